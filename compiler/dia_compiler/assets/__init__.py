"""Registry of asset builders, including those of installed packages."""

from __future__ import annotations

from dia_language.plugins import Registry, instance_of

from dia_compiler.assets.base import Builder
from dia_compiler.assets.captcha import Captcha
from dia_compiler.assets.csv import Csv
from dia_compiler.assets.elf import Elf
from dia_compiler.assets.hanoi import Hanoi
from dia_compiler.assets.html import Html
from dia_compiler.assets.http import Http
from dia_compiler.assets.log import Log
from dia_compiler.assets.pdf import Pdf
from dia_compiler.assets.plot import Plot
from dia_compiler.assets.png import Png
from dia_compiler.assets.qr import Qr
from dia_compiler.assets.text import Text
from dia_compiler.assets.wav import Wav
from dia_compiler.assets.zip import Zip

OWN: dict[str, Builder] = {
    "captcha": Captcha(),
    "csv": Csv(),
    "elf": Elf(),
    "hanoi": Hanoi(),
    "html": Html(),
    "http": Http(),
    "log": Log(),
    "pdf": Pdf(),
    "plot": Plot(),
    "png": Png(),
    "qr": Qr(),
    "text": Text(),
    "wav": Wav(),
    "zip": Zip(),
}
BUILDERS: Registry[Builder] = Registry("dia.assets", OWN, instance_of(Builder, "dia_compiler.assets.base.Builder"))
