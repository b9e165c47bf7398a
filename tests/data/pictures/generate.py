#!/usr/bin/env python3
"""Writes the pictures beside it and expected.json: the pixels as PIL reads them, resized pictures as PIL makes them, and
the input of a net as torchvision makes it. Needs pillow, numpy, torch and torchvision; written with pillow 13.0 and
torchvision 0.29. Run in this folder."""
import io
import json
import struct
import zlib

import numpy as np
import torch
from PIL import Image
from torchvision import transforms
from torchvision.transforms import InterpolationMode

HEIGHT, WIDTH = 11, 14
rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
base = np.stack([rows * 23, columns * 18, (rows * columns * 7) % 256], axis=2).astype(np.uint8)
noise = np.random.default_rng(1).integers(0, 256, base.shape, dtype=np.uint8)  # saturates bicubic
picture = Image.fromarray(base)
grey = picture.convert("L")
alpha = Image.fromarray((columns * 19).astype(np.uint8))


def png16(values):
    """PNG of 16 bits a sample, which PIL can't write for colour."""

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    height, width = values.shape[:2]
    colour = {1: 0, 3: 2}[1 if values.ndim == 2 else values.shape[2]]
    lines = b"".join(b"\0" + line.astype(">u2").tobytes() for line in values)
    header = struct.pack(">IIBBBBB", width, height, 16, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def save(name, image, **options):
    image.save(name, **options)


save("rgb.png", picture)
save("grey.png", grey)
save("bits.png", grey.convert("1"))
save("alpha.png", Image.merge("RGBA", (*picture.split(), alpha)))
save("grey_alpha.png", Image.merge("LA", (grey, alpha)))
save("palette.png", picture.quantize(16), transparency=3)
save("rgb.bmp", picture)
save("palette.bmp", picture.quantize(16))
wide = base.astype(np.uint16) * 256 + 200
open("rgb16.png", "wb").write(png16(wide))
open("grey16.png", "wb").write(png16(np.asarray(grey).astype(np.uint16) * 256 + 200))
save("rgb.jpg", picture, quality=95, subsampling=0, optimize=True)
save("subsampled.jpg", picture, quality=90, subsampling=2, optimize=True)
save("progressive.jpg", picture, quality=95, progressive=True)
save("grey.jpg", grey, quality=95, optimize=True)
save("cmyk.jpg", picture.convert("CMYK"), quality=95, optimize=True)
exif = Image.Exif()
exif[0x0112] = 6
save("orientation.jpg", picture, quality=95, subsampling=0, optimize=True, exif=exif)

# The same CMYK without the segment that says so.
cmyk = open("cmyk.jpg", "rb").read()
at = cmyk.index(b"\xff\xee")
open("cmyk_plain.jpg", "wb").write(cmyk[:at] + cmyk[at + 2 + int.from_bytes(cmyk[at + 2 : at + 4], "big") :])

expected = {"files": {}, "resize": [], "preprocess": []}
for name in ["rgb.png", "grey.png", "bits.png", "alpha.png", "grey_alpha.png", "palette.png", "rgb16.png", "rgb.bmp",
             "palette.bmp", "rgb.jpg", "subsampled.jpg", "progressive.jpg", "grey.jpg", "cmyk.jpg", "cmyk_plain.jpg"]:
    expected["files"][name] = np.asarray(Image.open(name).convert("RGB")).ravel().tolist()
# Of 16-bit grey PIL cuts off what is over 255; the upper 8 bits, as of 16-bit colour, are the same picture.
expected["files"]["grey16.png"] = expected["files"]["grey.png"]
# As the file has the rows; its orientation is 6.
expected["files"]["orientation.jpg"] = np.asarray(Image.open("orientation.jpg").convert("RGB")).ravel().tolist()

filters = {"nearest": Image.Resampling.NEAREST, "bilinear": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC}
source = Image.fromarray(noise)
expected["noise"] = noise.ravel().tolist()
for name, number in filters.items():
    for height, width in [(5, 7), (23, 31), (11, 6), (24, 14), (1, 1), (11, 14)]:
        pixels = np.asarray(source.resize((width, height), number)).ravel().tolist()
        expected["resize"].append({"filter": name, "height": height, "width": width, "pixels": pixels})

modes = {"nearest": InterpolationMode.NEAREST, "bilinear": InterpolationMode.BILINEAR, "bicubic": InterpolationMode.BICUBIC}
for image, name in [(source, "noise"), (source.transpose(Image.Transpose.TRANSPOSE), "transposed")]:
    for mode, resize, height, width in [("bilinear", 8, 6, 6), ("bicubic", 13, 13, 12), ("nearest", 9, 4, 9),
                                        ("bilinear", 0, 16, 5), ("bilinear", 7, 8, 13)]:
        steps = [transforms.Resize(resize, modes[mode])] if resize else []
        steps += [transforms.CenterCrop((height, width)), transforms.ToTensor(),
                  transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))]
        result = transforms.Compose(steps)(image).permute(1, 2, 0)
        expected["preprocess"].append({"image": name, "filter": mode, "resize": resize, "crop": [height, width],
                                       "values": [float(f"{v:.9g}") for v in result.flatten().tolist()]})
with open("expected.json", "w") as file:
    json.dump(expected, file, separators=(",", ":"))
    file.write("\n")
