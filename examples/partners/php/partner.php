<?php
// A partner's backend: its keys, tokens for its user, calls of the instance's API, and the page with the frame.
// It needs no library: PHP's OpenSSL has RS256. Each request starts anew, so tokens are kept in a file.
declare(strict_types=1);

const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const EMBED_LIFETIME_SECONDS = 60;
const LOGOUT_LIFETIME_SECONDS = 120;
const MARGIN_SECONDS = 10;
const MAX_TRIES = 3;
const LONGEST_WAIT_SECONDS = 30;
const TIMEOUT_SECONDS = 30;

// A real product takes the user from its own session.
const USER = [
    'sub' => 'customer-1', 'email' => 'ada@partner.example', 'email_verified' => true,
    'given_name' => 'Ada', 'family_name' => 'Castell', 'role' => 'global:member',
    'projects' => ['castell:project:editor'],
];
const SUPPORT = [
    'sub' => 'support-1', 'email' => 'bob@partner.example', 'email_verified' => true, 'given_name' => 'Bob',
];

/** The instance's refusal. It never contains the token that was sent. */
final class Refused extends Exception
{
    public function __construct(string $error, public readonly ?string $requestId)
    {
        parent::__construct($error);
    }
}

function setting(string $name, string $fallback): string
{
    $value = getenv($name);
    return $value === false || $value === '' ? $fallback : $value;
}

function instance_url(): string
{
    return setting('INSTANCE_URL', 'http://localhost:5678');
}

function key_id(): string
{
    return setting('KEY_ID', 'partner-key-1');
}

/** Creates the key if there is none. An existing key is only read, so the program needs no right to write. */
function private_key(): OpenSSLAsymmetricKey
{
    $path = setting('KEY_FILE', 'partner-key.pem');
    $pem = is_file($path) ? file_get_contents($path) : '';
    if ($pem === false) {
        throw new RuntimeException('the key file cannot be read');
    }
    $key = openssl_pkey_get_private($pem === '' ? made_key($path) : $pem);
    if ($key === false) {
        throw new RuntimeException('the key file has no private key');
    }
    // PHP writes EC signatures in another form than JWTs have.
    if (openssl_pkey_get_details($key)['type'] !== OPENSSL_KEYTYPE_RSA) {
        throw new RuntimeException('the key file has no RSA key, and this program signs RS256;'
            . ' make one: openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:3072');
    }
    return $key;
}

/** Several requests may get here at once: the first creates the key, and the others find it. */
function made_key(string $path): string
{
    $file = open_private($path);
    $pem = stream_get_contents($file);
    if ($pem === '') {
        $made = openssl_pkey_new(['private_key_type' => OPENSSL_KEYTYPE_RSA, 'private_key_bits' => 3072]);
        openssl_pkey_export($made, $pem);
        fwrite($file, $pem);
    }
    fclose($file);
    return $pem;
}

/**
 * Opens a file that nobody else may read, and locks it until it is closed.
 * @return resource
 */
function open_private(string $path)
{
    $before = umask(0o077);
    $file = fopen($path, 'c+');
    umask($before);
    if ($file === false || !flock($file, LOCK_EX)) {
        throw new RuntimeException('a file cannot be opened');
    }
    return $file;
}

function base64url(string $bytes): string
{
    return rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
}

/** A token for one use, with a new jti. */
function sign(array $claims, int $lifetimeSeconds, string $type = 'JWT'): string
{
    $now = time();
    $own = [
        'iss' => setting('PARTNER_ISSUER', 'https://partner.example'), 'aud' => instance_url(),
        'iat' => $now, 'exp' => $now + $lifetimeSeconds, 'jti' => bin2hex(random_bytes(16)),
    ];
    $header = ['alg' => 'RS256', 'typ' => $type, 'kid' => key_id()];
    $input = base64url(json_encode($header, JSON_THROW_ON_ERROR))
        . '.' . base64url(json_encode($own + $claims, JSON_THROW_ON_ERROR));
    if (!openssl_sign($input, $signature, private_key(), OPENSSL_ALGO_SHA256)) {
        throw new RuntimeException('the key cannot sign');
    }
    return $input . '.' . base64url($signature);
}

/** Returns status, headers (names in lower case) and body. Redirects are not followed: they would pass tokens on. */
function send(string $path, array $options): array
{
    $http = $options + ['timeout' => TIMEOUT_SECONDS, 'follow_location' => 0, 'ignore_errors' => true];
    $body = @file_get_contents(instance_url() . $path, false, stream_context_create(['http' => $http]));
    if ($body === false) {
        throw new Refused('network_error', null);
    }
    $lines = $http_response_header;
    $status = (int) explode(' ', array_shift($lines))[1];
    $headers = [];
    foreach ($lines as $line) {
        [$name, $value] = explode(':', $line, 2) + [1 => ''];
        $headers[strtolower($name)] = trim($value);
    }
    return [$status, $headers, $body];
}

function post(string $path, array $form): array
{
    return send($path, [
        'method' => 'POST',
        'header' => 'Content-Type: application/x-www-form-urlencoded',
        'content' => http_build_query($form),
    ]);
}

/** Ends everything that the user has opened on the instance (OpenID Connect Back-Channel Logout 1.0). */
function sign_out(): void
{
    $claims = ['sub' => USER['sub'], 'events' => [LOGOUT_EVENT => new stdClass()]];
    $token = sign($claims, LOGOUT_LIFETIME_SECONDS, 'logout+jwt');
    [$status, $headers, $body] = post('/rest/auth/backchannel-logout', ['logout_token' => $token]);
    if ($status !== 200) {
        $members = json_decode($body, true) ?? [];
        throw new Refused($members['error'] ?? "status $status", $headers['x-request-id'] ?? null);
    }
    http_response_code(204);
}

/**
 * Keeps a token until shortly before it expires. The lock lets one request exchange, and the others use its token, even if theirs
 * was refused.
 */
function access_token(array $subject, ?array $actor, ?string $refused): string
{
    $file = open_private(setting('KEY_FILE', 'partner-key.pem') . '.tokens');
    try {
        $state = json_decode(stream_get_contents($file), true) ?? ['kept' => [], 'exchanges' => 0];
        $name = $subject['sub'] . "\0" . ($actor['sub'] ?? '');
        $found = $state['kept'][$name] ?? ['token' => '', 'until' => 0];
        if ($found['token'] === $refused || microtime(true) >= $found['until']) {
            $found = exchange($subject, $actor, $state['exchanges']);
            $state['kept'][$name] = $found;
            ftruncate($file, 0);
            rewind($file);
            fwrite($file, json_encode($state, JSON_THROW_ON_ERROR));
        }
        return $found['token'];
    } finally {
        fclose($file);
    }
}

function exchanges(): int
{
    $state = json_decode((string) file_get_contents(setting('KEY_FILE', 'partner-key.pem') . '.tokens'), true);
    return $state['exchanges'] ?? 0;
}

function exchange(array $subject, ?array $actor, int &$exchanges): array
{
    $lifetime = (int) setting('TOKEN_LIFETIME_SECONDS', '600');
    for ($tries = 1; ; $tries++) {
        // Each try needs new tokens: the instance may have used up the earlier ones.
        $form = ['grant_type' => GRANT_TYPE, 'subject_token' => sign($subject, $lifetime)];
        if ($actor !== null) {
            $form['actor_token'] = sign($actor, $lifetime);
        }
        $exchanges++;
        $sent = microtime(true);
        [$status, $headers, $body] = post('/rest/auth/oauth/token', $form);
        $members = json_decode($body, true) ?? [];
        if ($status === 200) {
            $life = $members['expires_in'];
            $until = $sent + $life - min(MARGIN_SECONDS, $life / 5);
            return ['token' => $members['access_token'], 'until' => $until];
        }
        // A proxy may send a date instead of seconds, or nothing. The wait is then one second.
        $asked = $headers['retry-after'] ?? '';
        $wait = preg_match('/^[0-9]{1,9}$/D', $asked) ? (int) $asked : 1;
        $isBusy = $status === 429 || $status === 503;
        if (!$isBusy || $tries === MAX_TRIES || $wait > LONGEST_WAIT_SECONDS) {
            throw new Refused($members['error'] ?? "status $status", $headers['x-request-id'] ?? null);
        }
        usleep($wait * 1_000_000 + random_int(0, 999_999));
    }
}

/** A token can end early. The call is then repeated once with a new one. */
function call(string $path, array $subject, ?array $actor, ?string $refused = null): mixed
{
    $token = access_token($subject, $actor, $refused);
    [$status, , $body] = send($path, ['header' => "Authorization: Bearer $token"]);
    return $status === 401 && $refused === null ? call($path, $subject, $actor, $token) : json_decode($body);
}

function send_json(mixed $value, int $status = 200): void
{
    http_response_code($status);
    header('Content-Type: application/json');
    echo json_encode($value, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES);
}

/** The caller as the instance sees them, and their workflows. */
function send_overview(array $subject, ?array $actor = null): void
{
    $me = call('/rest/me', $subject, $actor);
    $workflows = call('/api/v1/workflows', $subject, $actor);
    send_json(['me' => $me, 'workflows' => $workflows, 'exchanges' => exchanges()]);
}

function send_jwks(): void
{
    ['rsa' => $rsa] = openssl_pkey_get_details(private_key());
    header('Cache-Control: max-age=300');
    $names = ['kid' => key_id(), 'alg' => 'RS256', 'use' => 'sig'];
    send_json(['keys' => [['kty' => 'RSA', 'n' => base64url($rsa['n']), 'e' => base64url($rsa['e'])] + $names]]);
}

function send_page(string $name, string $token = ''): void
{
    header('Content-Type: text/html; charset=utf-8');
    header('Cache-Control: no-store');
    $values = ['{{INSTANCE_URL}}' => instance_url(), '{{TOKEN}}' => $token];
    $escaped = array_map(fn (string $value) => htmlspecialchars($value, ENT_QUOTES), $values);
    echo strtr(file_get_contents(page_dir() . "/$name"), $escaped);
}

function send_text(string $type, string $text): void
{
    header("Content-Type: $type");
    header('Cache-Control: no-store');
    echo $text;
}

function page_dir(): string
{
    return setting('PAGE_DIR', __DIR__ . '/../page');
}

$route = $_SERVER['REQUEST_METHOD'] . ' ' . parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
try {
    match ($route) {
        'GET /.well-known/jwks.json' => send_jwks(),
        'GET /partner.pem' => send_text('application/x-pem-file', openssl_pkey_get_details(private_key())['key']),
        'POST /embed-token' => send_text('text/plain', sign(USER, EMBED_LIFETIME_SECONDS)),
        'POST /sign-out' => sign_out(),
        'GET /workflows' => send_overview(USER),
        'GET /support/workflows' => send_overview(USER, SUPPORT),
        'GET /' => send_page('index.html'),
        'GET /plain' => send_page('plain.html', sign(USER, EMBED_LIFETIME_SECONDS)),
        'GET /page.js', 'GET /plain.js' =>
            send_text('text/javascript', file_get_contents(page_dir() . '/' . basename($route))),
        default => send_json(['error' => 'not_found'], 404),
    };
} catch (Refused $refused) {
    send_json(['error' => $refused->getMessage(), 'requestId' => $refused->requestId], 502);
} catch (RuntimeException $fault) {
    error_log($fault->getMessage());
    send_json(['error' => 'server_error'], 500);
}
