# A partner's backend: its keys, tokens for its user, calls of the instance's API, and the page with the frame.
import html
import json
import os
import re
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from pathlib import Path

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from flask import Flask, Response, jsonify
from jwt.utils import base64url_encode

ISSUER = os.environ.get("PARTNER_ISSUER", "https://partner.example")
INSTANCE_URL = os.environ.get("INSTANCE_URL", "http://localhost:5678")
KEY_FILE = Path(os.environ.get("KEY_FILE", "partner-key.pem"))
KEY_ID = os.environ.get("KEY_ID", "partner-key-1")
PAGE_DIR = Path(os.environ.get("PAGE_DIR", Path(__file__).resolve().parent.parent / "page"))
PORT = int(os.environ.get("PORT", "8080"))
TOKEN_LIFETIME_SECONDS = int(os.environ.get("TOKEN_LIFETIME_SECONDS", "600"))

LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
GRANT_TYPE = "urn:ietf:params:oauth:grant-type:token-exchange"
EMBED_LIFETIME_SECONDS = 60
LOGOUT_LIFETIME_SECONDS = 120
MARGIN_SECONDS = 10
MAX_TRIES = 3
LONGEST_WAIT_SECONDS = 30
TIMEOUT_SECONDS = 30

# A real product takes the user from its own session.
USER = {
    "sub": "customer-1",
    "email": "ada@partner.example",
    "email_verified": True,
    "given_name": "Ada",
    "family_name": "Castell",
    "role": "global:member",
    "projects": ["castell:project:editor"],
}
SUPPORT = {"sub": "support-1", "email": "bob@partner.example", "email_verified": True, "given_name": "Bob"}


class Refused(Exception):
    """The instance's refusal. It never contains the token that was sent."""

    def __init__(self, error, request_id):
        super().__init__(error)
        self.error = error
        self.request_id = request_id


def make_key():
    key = ec.generate_private_key(ec.SECP256R1())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    # No other account of this machine may read it, not even for a moment.
    with os.fdopen(os.open(KEY_FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(pem)


if not KEY_FILE.exists():
    make_key()
private_key = load_pem_private_key(KEY_FILE.read_bytes(), password=None)


def sign(claims, lifetime_seconds, typ="JWT"):
    """A token for one use, with a new jti."""
    now = int(time.time())
    own = {"iss": ISSUER, "aud": INSTANCE_URL, "iat": now, "exp": now + lifetime_seconds, "jti": str(uuid.uuid4())}
    return jwt.encode({**claims, **own}, private_key, algorithm="ES256", headers={"kid": KEY_ID, "typ": typ})


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        """A redirect would pass the tokens on."""


opener = urllib.request.build_opener(NoRedirects)


def send(path, form=None, access_token=None):
    """Status, headers and JSON of an answer, also of a refusal."""
    headers = {} if access_token is None else {"Authorization": f"Bearer {access_token}"}
    body = None if form is None else urllib.parse.urlencode(form).encode()
    request = urllib.request.Request(INSTANCE_URL + path, data=body, headers=headers)
    try:
        answer = opener.open(request, timeout=TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        try:
            members = json.loads(answer.read())
        except ValueError:
            members = {}
        return answer.status, answer.headers, members


def seconds_to_wait(retry_after):
    """A proxy may send a date instead of seconds, or nothing. The wait is then one second."""
    return int(retry_after) if re.fullmatch("[0-9]{1,9}", retry_after or "") else 1


class AccessTokens:
    """Exchanges tokens, and keeps each access token until shortly before it expires."""

    def __init__(self):
        self.exchanges = 0
        self.kept = {}
        self.lock = threading.Lock()

    def get(self, subject, actor=None, refused=None):
        """Returns a token other than the refused one: another caller may already have a new one."""
        name = (subject["sub"], actor and actor["sub"])
        # One exchange at a time: callers that waited use its token.
        with self.lock:
            token, until = self.kept.get(name, ("", 0.0))
            if token == refused or time.monotonic() >= until:
                token, until = self.exchange(subject, actor)
                self.kept[name] = (token, until)
            return token

    def exchange(self, subject, actor):
        for tries in range(1, MAX_TRIES + 1):
            # Each try needs new tokens: the instance may have used up the earlier ones.
            form = {"grant_type": GRANT_TYPE, "subject_token": sign(subject, TOKEN_LIFETIME_SECONDS)}
            if actor is not None:
                form["actor_token"] = sign(actor, TOKEN_LIFETIME_SECONDS)
            sent = time.monotonic()
            self.exchanges += 1
            status, headers, members = send("/rest/auth/oauth/token", form)
            if status == 200:
                life = members["expires_in"]
                return members["access_token"], sent + life - min(MARGIN_SECONDS, life / 5)
            wait = seconds_to_wait(headers.get("Retry-After"))
            if status not in (429, 503) or tries == MAX_TRIES or wait > LONGEST_WAIT_SECONDS:
                raise Refused(members.get("error", f"status {status}"), headers.get("X-Request-Id"))
            time.sleep(wait + uuid.uuid4().int % 1000 / 1000)
        raise AssertionError("the last try returns or raises")


tokens = AccessTokens()


def call(path, subject, actor):
    token = tokens.get(subject, actor)
    status, _, members = send(path, access_token=token)
    # A token can end early. The call is then repeated once with a new one.
    if status == 401:
        _, _, members = send(path, access_token=tokens.get(subject, actor, refused=token))
    return members


def overview(subject, actor=None):
    """The caller as the instance sees them, and their workflows."""
    me = call("/rest/me", subject, actor)
    workflows = call("/api/v1/workflows", subject, actor)
    return jsonify(me=me, workflows=workflows, exchanges=tokens.exchanges)


def page(name, token=""):
    values = {"INSTANCE_URL": INSTANCE_URL, "TOKEN": token}
    text = (PAGE_DIR / name).read_text("utf-8")
    filled = re.sub(r"\{\{(\w+)\}\}", lambda found: html.escape(values[found[1]]), text)
    return Response(filled, mimetype="text/html", headers={"Cache-Control": "no-store"})


app = Flask(__name__)


@app.get("/.well-known/jwks.json")
def jwks():
    point = private_key.public_key().public_numbers()
    answer = jsonify(
        keys=[
            {
                "kty": "EC",
                "crv": "P-256",
                "x": coordinate(point.x),
                "y": coordinate(point.y),
                "kid": KEY_ID,
                "alg": "ES256",
                "use": "sig",
            }
        ]
    )
    answer.headers["Cache-Control"] = "max-age=300"
    return answer


def coordinate(number):
    # Always 32 bytes (RFC 7518, 6.2.1.2): some releases of PyJWT omit leading zeros.
    return base64url_encode(number.to_bytes(32, "big")).decode()


@app.get("/partner.pem")
def partner_pem():
    pem = private_key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return Response(pem, mimetype="application/x-pem-file")


@app.post("/embed-token")
def embed_token():
    token = sign(USER, EMBED_LIFETIME_SECONDS)
    return Response(token, mimetype="text/plain", headers={"Cache-Control": "no-store"})


@app.post("/sign-out")
def sign_out():
    """Ends everything that the user has opened on the instance (OpenID Connect Back-Channel Logout 1.0)."""
    claims = {"sub": USER["sub"], "events": {LOGOUT_EVENT: {}}}
    token = sign(claims, LOGOUT_LIFETIME_SECONDS, typ="logout+jwt")
    status, headers, members = send("/rest/auth/backchannel-logout", {"logout_token": token})
    if status != 200:
        raise Refused(members.get("error", f"status {status}"), headers.get("X-Request-Id"))
    return Response(status=204)


@app.get("/workflows")
def workflows():
    return overview(USER)


@app.get("/support/workflows")
def support_workflows():
    return overview(USER, SUPPORT)


@app.get("/")
def index():
    return page("index.html")


@app.get("/plain")
def plain():
    return page("plain.html", sign(USER, EMBED_LIFETIME_SECONDS))


@app.get("/page.js")
def page_script():
    return Response((PAGE_DIR / "page.js").read_bytes(), mimetype="text/javascript")


@app.get("/plain.js")
def plain_script():
    return Response((PAGE_DIR / "plain.js").read_bytes(), mimetype="text/javascript")


@app.errorhandler(Refused)
def refused(failure):
    return jsonify(error=failure.error, requestId=failure.request_id), 502


if __name__ == "__main__":
    print(f"listening on http://localhost:{PORT}", flush=True)
    app.run(host="127.0.0.1", port=PORT, threaded=True)
