# dia with all interpreters and readers that programs and tests use, at the versions of this Debian release:
#   docker build -t dia . && docker run --rm -v "$PWD:/work" dia compile specs/ --k 5
FROM python:3.13-slim-trixie
RUN apt-get update && apt-get install -y --no-install-recommends \
    bubblewrap gcc libc6-dev libimage-exiftool-perl nodejs openssl p7zip-full pari-gp perl php-cli poppler-utils ruby \
    sqlite3 unzip && rm -rf /var/lib/apt/lists/*
COPY . /src
RUN pip install --no-cache-dir -c /src/constraints.txt '/src[images,binary,parquet,report]' && rm -rf /src
RUN useradd --create-home dia
USER dia
WORKDIR /work
ENTRYPOINT ["dia"]
