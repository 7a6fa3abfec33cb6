# The packages are installed with their hashes in one stage, the static files get their
# hashed names in another; what runs is neither root nor able to write into its code.

FROM python:3.11-slim-bookworm AS packages
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/waybill
COPY requirements.txt .
RUN /opt/waybill/bin/pip install --require-hashes -r requirements.txt


FROM python:3.11-slim-bookworm AS code
ENV PATH=/opt/waybill/bin:$PATH VAR_DIR=/srv/var
COPY --from=packages /opt/waybill /opt/waybill
WORKDIR /srv/waybill
COPY manage.py ./
COPY chatbot ./chatbot
COPY tools ./tools
COPY templates ./templates
COPY static ./static
# Settings of no use anywhere, for production alone hashes names; no server is asked.
COPY tests/production.env /tmp/production.env
RUN env $(grep -v '^#' /tmp/production.env) python manage.py collectstatic --noinput


FROM python:3.11-slim-bookworm
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin waybill
ENV PATH=/opt/waybill/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    VAR_DIR=/srv/var
COPY --from=packages /opt/waybill /opt/waybill
COPY --from=code /srv/waybill /srv/waybill
COPY --from=code /srv/var /srv/var
COPY deploy/start /srv/waybill/deploy/start
WORKDIR /srv/waybill
USER waybill
EXPOSE 8000
ENTRYPOINT ["/srv/waybill/deploy/start"]
CMD ["web"]
