"""Which of a benchmark program's rows the device "cpu" stands for on this machine."""
import os
import subprocess


def cpu_row(program, env=os.environ):
    """DNN_ISA's, as the library has it, else the best that the program lists: "cpu_avx512"."""
    done = subprocess.run([program, "--benchmark_list_tests", "--describe=0"], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, env=env)
    listed = {part for name in done.stdout.split() for part in name.split("/")}
    asked = env.get("DNN_ISA")
    choice = ["cpu_" + asked] if asked else ["cpu_avx512", "cpu_avx2", "cpu_baseline"]
    for row in choice:
        if row in listed:
            return row
    raise SystemExit("%s has no row of %s" % (program, ", ".join(choice)))
