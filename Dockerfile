# syntax=docker/dockerfile:1
# leakdown as a service: it runs as nobody in particular, writes to /data alone, and needs no more than a read-only root.
#   docker build --tag leakdown .
#   docker run --rm --read-only --tmpfs /tmp --volume leakdown:/data leakdown keys create first --scope admin
#   docker run --read-only --tmpfs /tmp --volume leakdown:/data --publish 8321:8321 leakdown
ARG PYTHON=3.12
FROM python:${PYTHON}-slim AS build
WORKDIR /source
COPY pyproject.toml constraints.txt README.md CHANGELOG.md LICENSE ./
COPY ingest ingest
COPY analysis analysis
COPY api api
RUN python -m venv /opt/leakdown \
    && /opt/leakdown/bin/python -m pip install --no-cache-dir --constraint constraints.txt .

FROM python:${PYTHON}-slim
COPY --from=build /opt/leakdown /opt/leakdown
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin leakdown \
    && install --directory --owner leakdown --group leakdown --mode 700 /data
USER 10001
WORKDIR /data
VOLUME /data
ENV PATH=/opt/leakdown/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    LEAKDOWN_STORE=/data/leakdown.duckdb \
    LEAKDOWN_HOST=0.0.0.0 \
    LEAKDOWN_LOG=json
EXPOSE 8321
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8321/healthz', timeout=4)"]
ENTRYPOINT ["leakdown"]
CMD ["serve"]
