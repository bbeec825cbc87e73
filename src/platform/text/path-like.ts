// Distinguishes a path from a value, where either may stand.

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
  return text.length <= MAX_CHARACTERS && PATH.test(text) && !isBase64(text);
}

/** As of keys: `/` is one of its characters. */
function isBase64(text: string): boolean {
  return /^[A-Za-z\d+/]{16,}={0,2}$/.test(text) && !/^\/([a-z]{2,}|Users)\//.test(text);
}
