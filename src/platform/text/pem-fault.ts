// Says what is wrong with a text that should be a PEM, or that is a path where a value belongs.

/** Far longer than the paths that people configure. */
const MAX_CHARACTERS = 512;
/** A path from the root, a home or the present folder, or a bare one that ends in a file's extension. */
const PATH =
  /^(~?\/|\.{1,2}\/|[A-Za-z]:[\\/])[\p{L}\p{N}._~ \\/-]+$|^[\p{L}\p{N}._-]+([\\/][\p{L}\p{N}._ -]+)*\.[A-Za-z]\w{1,7}$/u;

/**
 * Whether a text can only be meant as the path of a file: then it is no PEM, JSON or secret, and may be repeated. In doubt it is
 * none, so that no secret is taken for a path.
 */
export function looksLikePath(text: string): boolean {
  return text.length <= MAX_CHARACTERS && PATH.test(text) && !isKey(text);
}

/** As of keys: `/` is one of its characters. */
function isKey(text: string): boolean {
  return /^[A-Za-z\d+/]{16,}={0,2}$/.test(text) && !/^\/([a-z]{2,}|Users)\//.test(text);
}

/** What a PEM should hold. */
export type PemKind = 'public key' | 'private key' | 'certificate';

/** What a PEM holds, by the end of its label (RFC 7468); of two that fit the first. */
const LABELS: readonly (readonly [end: string, kind: string])[] = [
  ['OPENSSH PRIVATE KEY', 'an OpenSSH key: ssh-keygen -p -m PKCS8 -f FILE makes PEM of it'],
  ['ENCRYPTED PRIVATE KEY', 'a private key with a passphrase'],
  ['PRIVATE KEY', 'a private key'],
  ['PUBLIC KEY', 'a public key'],
  ['CERTIFICATE', 'a certificate'],
];

/** What a text without a label is, by its beginning. */
const BEGINNINGS: readonly (readonly [RegExp, kind: string])[] = [
  [
    /^(ssh-|ecdsa-sha2-|sk-ssh-|---- BEGIN SSH2)/,
    'an OpenSSH key: ssh-keygen -e -m PKCS8 -f FILE writes PEM',
  ],
  [/^[[{]/, 'JSON, such as a JWK'],
  // A sequence, with the bytes that are no UTF-8.
  [/^0[^]*\ufffd/, 'DER: openssl converts it with -inform DER'],
  [/^[A-Za-z\d+/=\s]{40,}$/, 'base64 without the first and last line of a PEM'],
];

const BEGIN = '-----BEGIN ';

/**
 * What stands in place of the PEM of one thing, in words that follow "it". Nothing of the text is repeated: it may be secret. Takes
 * time in proportion to the text.
 */
export function pemFault(text: string, wanted: PemKind): string {
  const start = text.trimStart();
  if (start === '') return 'is empty';
  if (looksLikePath(text)) return 'looks like the path of a file, and should be what the file holds';
  const label = labelOf(start);
  const kind =
    label === undefined
      ? BEGINNINGS.find(([pattern]) => pattern.test(start))?.[1]
      : LABELS.find(([end]) => label.endsWith(end))?.[1];
  if (kind === undefined) return label === undefined ? 'is no PEM' : 'is a PEM of another kind';
  if (kind !== `a ${wanted}`) return `is ${kind}${conversion(kind, wanted)}`;
  if (text.includes('ENCRYPTED')) return 'is a private key with a passphrase';
  return `is a damaged ${wanted}: a PEM is a first line, lines of base64 and a last line, complete and alone`;
}

/** Of the first PEM in a text. */
function labelOf(text: string): string | undefined {
  const at = text.indexOf(BEGIN);
  const end = text.indexOf('-----', at + BEGIN.length);
  return at === -1 || end === -1 ? undefined : text.slice(at + BEGIN.length, end);
}

function conversion(kind: string, wanted: PemKind): string {
  if (kind !== 'a certificate' || wanted !== 'public key') return '';
  return ': openssl x509 -pubkey -noout -in FILE writes its public key';
}
