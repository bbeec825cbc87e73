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

const LABELS: Record<PemKind, RegExp> = {
  'public key': /^(RSA )?PUBLIC KEY$/,
  'private key': /^((RSA|EC) )?PRIVATE KEY$/,
  certificate: /^((X509|TRUSTED) )?CERTIFICATE$/,
};

const FIRST_LINE = /-----BEGIN ([A-Z\d ]+)-----/g;

/** Commands that convert keys of other kinds. */
const SSH_WAYS: Record<PemKind, string> = {
  'public key': ': ssh-keygen -e -m PKCS8 -f FILE writes PEM',
  'private key': ': ssh-keygen -p -m PKCS8 -f FILE makes PEM of it',
  certificate: '',
};

/**
 * Why a text that could not be read is not the PEM of one thing, in the words that follow "it". The fault is named and the text
 * never repeated: it may be secret.
 */
export function pemFault(text: string, wanted: PemKind): string {
  return (
    foreignFormat(text, wanted) ??
    labelFault(text, wanted) ??
    layoutFault(text, wanted) ??
    contentFault(text, wanted)
  );
}

function foreignFormat(text: string, wanted: PemKind): string | undefined {
  if (text.trim() === '') return 'is empty';
  if (looksLikePath(text)) return 'looks like the path of a file, and should be what the file holds';
  if (/^\s*(ssh-|ecdsa-sha2-|sk-ssh-)|---- ?BEGIN (OPENSSH|SSH2) /.test(text))
    return `is an SSH key${SSH_WAYS[wanted]}`;
  if (/^\s*[[{]/.test(text)) return 'looks like JSON, such as a JWK';
  return undefined;
}

function labelFault(text: string, wanted: PemKind): string | undefined {
  const labels = [...text.matchAll(FIRST_LINE)].map(([, label = '']) => label);
  if (labels.length === 0) return `has no first line -----BEGIN ${wanted.toUpperCase()}-----`;
  if (labels.some((label) => LABELS[wanted].test(label))) return undefined;
  if (labels.some((label) => label.includes('ENCRYPTED'))) return 'is sealed with a passphrase';
  if (labels.some((label) => label.includes('PRIVATE KEY'))) return 'is a private key';
  if (labels.some((label) => label.endsWith('PUBLIC KEY'))) return 'is a public key';
  if (labels.some((label) => LABELS.certificate.test(label)))
    return wanted === 'public key'
      ? 'is a certificate: openssl x509 -pubkey -noout -in FILE writes its public key'
      : 'is a certificate';
  return 'is a PEM of another kind';
}

function layoutFault(text: string, wanted: PemKind): string | undefined {
  if (/^(Proc-Type|DEK-Info):/m.test(text)) return 'is sealed with a passphrase';
  if (text.includes('\\n'))
    return 'has a backslash and an n where its line breaks belong: JSON needs \\n with one backslash, all else real line breaks';
  if (!/-----END [A-Z\d ]+-----/.test(text)) return 'has no last line: its end is missing';
  if (!/-----BEGIN [A-Z\d ]+-----\s*\n[^]*\n\s*-----END /.test(text))
    return 'has lost its line breaks: first line, base64 and last line each stand alone';
  if (wanted === 'certificate') return undefined;
  if ([...text.matchAll(FIRST_LINE)].length > 1) return 'holds more than one PEM, and should hold one';
  if (/\S/.test(text.replace(/-----BEGIN [^]*-----END [A-Z\d ]+-----/, '')))
    return 'has more text before or behind the PEM';
  return undefined;
}

function contentFault(text: string, wanted: PemKind): string {
  const bodies = [...text.matchAll(/-----BEGIN [A-Z\d ]+-----([^]*?)-----END /g)];
  const isWhole = bodies.every(([, body = '']) => isBase64(body.replace(/\s/g, '')));
  return isWhole
    ? `holds no ${wanted} that can be read: a part of it may be missing`
    : 'is damaged: a character of its base64 is missing, or one does not belong there';
}

function isBase64(text: string): boolean {
  return text !== '' && text.length % 4 === 0 && /^[A-Za-z\d+/]+={0,2}$/.test(text);
}
