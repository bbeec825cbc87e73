// The backend of a partner in Node.js, Python, PHP and Ruby.
import type { PartnerFacts } from './partner-facts.js';
import { double, GRANT_TYPE, single, tokenAddress } from './partner-facts.js';

export function node(facts: PartnerFacts): string {
  return `// automation.mjs: npm install jose
import { SignJWT } from 'jose';
import { createPrivateKey, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

const key = createPrivateKey(readFileSync(process.env.PARTNER_KEY_FILE ?? ${single(facts.keyFile)}));

/** Signs a token for one use. The user comes from your own session, never from the request. */
export function sign(user, lifetime) {
  // \`true\` only because your product has verified the address.
  return new SignJWT({ email: user.email, email_verified: true })
    .setProtectedHeader({ alg: ${single(facts.algorithm)}, kid: ${single(facts.kid)}, typ: 'JWT' })
    .setIssuer(${single(facts.issuer)})
    .setAudience(${single(facts.audience)})
    .setSubject(user.id)
    .setJti(randomUUID())
    .setIssuedAt()
    .setExpirationTime(lifetime)
    .sign(key);
}

/** Call it in your route POST /automation-token, with the user of your session or undefined. */
export async function sendFrameToken(user, response) {
  if (user === undefined) return response.writeHead(401).end();
  const headers = { 'content-type': 'text/plain', 'cache-control': 'no-store' };
  response.writeHead(200, headers).end(await sign(user, '60s'));
}

/** Exchanges a token for an access token to the API. */
export async function accessToken(user) {
  const answer = await fetch(${single(tokenAddress(facts))}, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({
      grant_type: '${GRANT_TYPE}',
      subject_token: await sign(user, '10m'),
    }),
  });
  const { access_token, error } = await answer.json();
  if (!answer.ok) throw new Error(\`\${error}, request \${answer.headers.get('x-request-id')}\`);
  return access_token;
}
`;
}

export function python(facts: PartnerFacts): string {
  return pythonSigning(facts) + pythonAnswers(facts);
}

function pythonSigning(facts: PartnerFacts): string {
  return `# automation.py: pip install flask pyjwt cryptography
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from pathlib import Path

import jwt
from flask import Response

KEY = Path(os.environ.get("PARTNER_KEY_FILE", ${double(facts.keyFile)})).read_text()


def sign(user, seconds):
    """Signs a token for one use. The user comes from your own session, never from the request."""
    now = int(time.time())
    claims = {
        "iss": ${double(facts.issuer)},
        "aud": ${double(facts.audience)},
        "sub": user["id"],
        "email": user["email"],
        "email_verified": True,  # only because your product has verified the address
        "iat": now,
        "exp": now + seconds,
        "jti": str(uuid.uuid4()),
    }
    return jwt.encode(claims, KEY, algorithm=${double(facts.algorithm)}, headers={"kid": ${double(facts.kid)}})


`;
}

function pythonAnswers(facts: PartnerFacts): string {
  return `def frame_token(user):
    """Return it from your route POST /automation-token, with the user of your session or None."""
    if user is None:
        return Response(status=401)
    return Response(sign(user, 60), mimetype="text/plain", headers={"Cache-Control": "no-store"})


def access_token(user):
    """Exchanges a token for an access token to the API."""
    form = {
        "grant_type": "${GRANT_TYPE}",
        "subject_token": sign(user, 600),
    }
    body = urllib.parse.urlencode(form).encode()
    try:
        with urllib.request.urlopen(${double(tokenAddress(facts))}, body, timeout=30) as answer:
            return json.load(answer)["access_token"]
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"exchange refused: {error.code}, request {error.headers['X-Request-Id']}") from None
`;
}

export function php(facts: PartnerFacts): string {
  return `<?php
// automation.php: composer require firebase/php-jwt
declare(strict_types=1);

use Firebase\\JWT\\JWT;

/** Signs a token for one use. The user comes from your own session, never from the request. */
function sign(array $user, int $seconds): string
{
    $now = time();
    $claims = [
        'iss' => ${single(facts.issuer)}, 'aud' => ${single(facts.audience)},
        'sub' => $user['id'], 'email' => $user['email'],
        // true only because your product has verified the address.
        'email_verified' => true,
        'iat' => $now, 'exp' => $now + $seconds, 'jti' => bin2hex(random_bytes(16)),
    ];
    $key = file_get_contents(getenv('PARTNER_KEY_FILE') ?: ${single(facts.keyFile)});
    return JWT::encode($claims, $key, ${single(facts.algorithm)}, ${single(facts.kid)});
}

/** Call it in your route POST /automation-token, with the user of your session or null. */
function send_frame_token(?array $user): void
{
    if ($user === null) {
        http_response_code(401);
        return;
    }
    header('Content-Type: text/plain');
    header('Cache-Control: no-store');
    echo sign($user, 60);
}

/** Exchanges a token for an access token to the API. */
function access_token(array $user): string
{
    $http = [
        'method' => 'POST', 'timeout' => 30, 'follow_location' => 0, 'ignore_errors' => true,
        'header' => 'Content-Type: application/x-www-form-urlencoded',
        'content' => http_build_query([
            'grant_type' => '${GRANT_TYPE}',
            'subject_token' => sign($user, 600),
        ]),
    ];
    $body = file_get_contents(${single(tokenAddress(facts))}, false, stream_context_create(['http' => $http]));
    $members = json_decode((string) $body, true);
    return $members['access_token'] ?? throw new RuntimeException($members['error'] ?? 'no answer');
}
`;
}

export function ruby(facts: PartnerFacts): string {
  return `# automation.rb: gem install jwt
require "json"
require "jwt"
require "net/http"
require "openssl"
require "securerandom"

module Automation
  KEY = OpenSSL::PKey.read(File.read(ENV.fetch("PARTNER_KEY_FILE", ${single(facts.keyFile)})))

  module_function

  # Signs a token for one use. The user comes from your own session, never from the request.
  def sign(user, seconds)
    now = Time.now.to_i
    claims = {
      iss: ${single(facts.issuer)}, aud: ${single(facts.audience)},
      sub: user[:id], email: user[:email],
      email_verified: true, # only because your product has verified the address
      iat: now, exp: now + seconds, jti: SecureRandom.uuid
    }
    JWT.encode(claims, KEY, ${single(facts.algorithm)}, { kid: ${single(facts.kid)}, typ: "JWT" })
  end

  # The answer (Rack) of your route POST /automation-token, with the user of your session or nil.
  def frame_token(user)
    return [401, {}, []] if user.nil?

    [200, { "content-type" => "text/plain", "cache-control" => "no-store" }, [sign(user, 60)]]
  end

  # Exchanges a token for an access token to the API.
  def access_token(user)
    form = { grant_type: "${GRANT_TYPE}", subject_token: sign(user, 600) }
    answer = Net::HTTP.post_form(URI(${single(tokenAddress(facts))}), form)
    members = JSON.parse(answer.body)
    members["access_token"] || raise("#{members["error"]}, request #{answer["X-Request-Id"]}")
  end
end
`;
}
