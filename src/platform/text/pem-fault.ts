// Explains why a string is not the expected PEM, or is a path instead of a value.

/** Much longer than configured paths are. */
const MAX_CHARACTERS = 512;
/**
 * A path from the root, the home folder or the current folder, or a relative path that ends in a file
 * extension.
 */
const PATH =
  /^(~?\/|\.{1,2}\/|[A-Za-z]:[\\/])[\p{L}\p{N}._~ \\/-]+$|^[\p{L}\p{N}._-]+([\\/][\p{L}\p{N}._ -]+)*\.[A-Za-z]\w{1,7}$/u;

/**
 * Whether a string can only be a file path: then it is no PEM, JSON or secret, and messages may repeat it. In
 * doubt it is not a path, so that no secret is repeated.
 */
export function looksLikePath(text: string): boolean {
  return text.length <= MAX_CHARACTERS && PATH.test(text) && !isKey(text);
}

/** Whether it may be a key: base64 contains `/`. */
function isKey(text: string): boolean {
  return /^[A-Za-z\d+/]{16,}={0,2}$/.test(text) && !/^\/([a-z]{2,}|Users)\//.test(text);
}

/** The expected content of a PEM. */
export type PemKind = 'public key' | 'private key' | 'certificate';

/** The content of a PEM, by the end of its label (RFC 7468). The first match wins. */
const LABELS: readonly (readonly [end: string, kind: string])[] = [
  ['OPENSSH PRIVATE KEY', 'an OpenSSH key: ssh-keygen -p -m PKCS8 -f FILE makes PEM of it'],
  ['ENCRYPTED PRIVATE KEY', 'a private key with a passphrase'],
  ['PRIVATE KEY', 'a private key'],
  ['PUBLIC KEY', 'a public key'],
  ['CERTIFICATE', 'a certificate'],
];

const OPENSSH = /^(ssh-|ecdsa-sha2-|sk-ssh-|---- BEGIN SSH2)/;
const JSON_TEXT = /^[[{]/;
/** A DER sequence, whose bytes are not valid UTF-8. */
const DER = /^0[^]*\ufffd/;
const BASE64 = /^[A-Za-z\d+/=\s]{40,}$/;

const BEGIN = '-----BEGIN ';
const BURNT =
  'a private key, and it has left its owner: the owner makes a new key and sends what openssl pkey -pubout -in FILE writes of it';
const FROM_JWK =
  "node -p \"require('crypto').createPublicKey({key:JSON.parse(require('fs').readFileSync('FILE')),format:'jwk'}).export({type:'spki',format:'pem'})\"";

/**
 * Explains what a string is instead of the expected PEM, in words that follow "it", with the command that
 * converts it. Repeats nothing of the string, which may be secret. Takes time in proportion to the string.
 */
export function pemFault(text: string, wanted: PemKind): string {
  const start = text.trimStart();
  if (start === '') return 'is empty';
  if (looksLikePath(text)) return 'looks like the path of a file, and should be what the file holds';
  if (wanted === 'public key' && text.includes('PRIVATE KEY-----')) return `is ${BURNT}`;
  const label = labelOf(start);
  if (label === undefined) return `is ${withoutLabel(start, wanted) ?? 'no PEM'}`;
  const kind = LABELS.find(([end]) => label.endsWith(end))?.[1];
  if (kind === undefined) return 'is a PEM of another kind';
  if (kind !== `a ${wanted}`) return `is ${kind}${conversion(kind, wanted)}`;
  if (text.includes('ENCRYPTED')) return 'is a private key with a passphrase';
  if (text.includes('\\n'))
    return `is a damaged ${wanted}: write line breaks instead of the two characters \\n`;
  return `is a damaged ${wanted}: a PEM is a first line, lines of base64 and a last line, complete and alone`;
}

/** The label of the first PEM in a string. */
function labelOf(text: string): string | undefined {
  const at = text.indexOf(BEGIN);
  const end = text.indexOf('-----', at + BEGIN.length);
  return at === -1 || end === -1 ? undefined : text.slice(at + BEGIN.length, end);
}

function conversion(kind: string, wanted: PemKind): string {
  if (kind !== 'a certificate' || wanted !== 'public key') return '';
  return ': openssl x509 -pubkey -noout -in FILE writes its public key';
}

function withoutLabel(text: string, wanted: PemKind): string | undefined {
  if (OPENSSH.test(text)) return 'an OpenSSH key: ssh-keygen -e -m PKCS8 -f FILE writes PEM';
  if (JSON_TEXT.test(text)) {
    if (wanted !== 'public key') return 'JSON, such as a JWK';
    return text.includes('"d"') ? BURNT : `JSON, such as a JWK: ${FROM_JWK} writes PEM`;
  }
  if (DER.test(text)) return inDer(text, wanted, 'DER', (command) => `${command} -in FILE`);
  if (!BASE64.test(text)) return undefined;
  const bytes = Buffer.from(text.slice(0, 2 * START_CHARACTERS), 'base64').toString('latin1');
  const piped = (command: string) => `base64 -d FILE | ${command}`;
  return inDer(bytes, wanted, 'base64 without the first and last line of a PEM', piped);
}

/** Long enough to distinguish the kinds. */
const START_CHARACTERS = 48;

/** @param text one character per byte, or fewer if some bytes are not UTF-8 */
function inDer(
  text: string,
  wanted: PemKind,
  form: string,
  reading: (command: string) => string,
): string | undefined {
  const start = text.slice(0, START_CHARACTERS);
  // A private key begins with its version. A certificate begins with a sequence that does, under a tag.
  const version = start.indexOf('\u0002\u0001');
  const isPrivate = version >= 2 && version <= 4;
  if (isPrivate && wanted === 'public key') return BURNT;
  const tagged = start.indexOf('\u0003\u0002\u0001');
  const isCertificate = tagged > 4 && tagged <= 12;
  if (wanted === 'private key') return `${form}: ${reading('openssl pkey -inform DER')} writes PEM`;
  if (wanted === 'certificate') return `${form}: ${reading('openssl x509 -inform DER')} writes PEM`;
  if (isCertificate)
    return `a certificate in ${form}: ${reading('openssl x509 -inform DER -pubkey -noout')} writes its public key`;
  return `${form}: ${reading('openssl pkey -pubin -inform DER')} writes PEM`;
}
