"""Croissant metadata (MLCommons, 1.0): the files, and the columns with their types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dia_runtime.integrations.exporting.parquet_writer import INTEGER, TEXT, Columns

CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
KINDS = {TEXT: "sc:Text", INTEGER: "sc:Integer"}
SPDX = "https://spdx.org/licenses/"


def croissant(
    manifest: Mapping[str, Any], bundle_id: str, digests: Mapping[str, str], columns: Mapping[str, Columns]
) -> dict[str, Any]:
    """Return the metadata; `digests` has the SHA-256 of each table, `columns` its columns."""
    title, license = manifest["title"] or manifest["benchmark"], manifest["license"]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": str(manifest["benchmark"]),
        "description": f"{title}: {manifest['counts']['questions']} questions of the bundle {bundle_id}.",
        "version": str(manifest["version"]),
        **({"license": f"{SPDX}{license}.html"} if license else {}),
        "distribution": [_file(name, digest) for name, digest in digests.items()],
        "recordSet": [_records(name, columns[name]) for name in digests],
    }


def _file(name: str, digest: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "encodingFormat": "application/x-parquet",
        "sha256": digest,
    }


def _records(name: str, columns: Columns) -> dict[str, Any]:
    """Return the columns with one text or number each; the card describes the lists."""
    record_set = name.rpartition("/")[2].removesuffix(".parquet")
    flat = {column: kind for column, kind in columns.items() if isinstance(kind, str) and kind in KINDS}
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{record_set}/{column}",
            "name": f"{record_set}/{column}",
            "dataType": KINDS[kind],
            "source": {"fileObject": {"@id": name}, "extract": {"column": column}},
        }
        for column, kind in flat.items()
    ]
    return {
        "@type": "cr:RecordSet",
        "@id": record_set,
        "name": record_set,
        "key": {"@id": f"{record_set}/id"},
        "field": fields,
    }
