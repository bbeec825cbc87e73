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

const KINDS: readonly PemKind[] = ['private key', 'public key', 'certificate'];

export const SENT_PRIVATE_KEY =
  'is a private key, which only its owner may have. The owner must create a new key, and send the output of openssl pkey -pubout -in FILE';

/** Explains what a string is instead of the expected PEM, in words that follow "it". Repeats nothing of the string, which may be secret. */
export function pemFault(text: string, wanted: PemKind): string {
  if (text.trim() === '') return 'is empty';
  if (looksLikePath(text)) return 'looks like a file path, but must be the content of the file';
  if (wanted === 'public key' && text.includes('PRIVATE KEY-----')) return SENT_PRIVATE_KEY;
  const kind = KINDS.find((one) => text.includes(`${one.toUpperCase()}-----`));
  if (kind === undefined) return 'has no PEM block';
  if (kind !== wanted) return `is a ${kind}`;
  if (text.includes('ENCRYPTED')) return 'is a private key with a passphrase';
  return `is a damaged ${wanted}: a PEM has a BEGIN line, lines of base64 and an END line, and nothing else`;
}
