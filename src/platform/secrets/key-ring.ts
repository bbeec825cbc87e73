// Encrypts secrets for storage (AES-256-GCM), and decrypts them with a list of keys.
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

const VERSION = 1;
const KEY_ID_BYTES = 8;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const DERIVED_KEY_BYTES = 32;
const HEADER_BYTES = 1 + KEY_ID_BYTES + IV_BYTES + TAG_BYTES;

/** A secret cannot be unsealed: its key is not in the list, or it was changed or moved to another row. */
export class SealError extends Error {}

/**
 * Seals with the first key, and unseals with all keys. An envelope consists of: version (1 byte), key id (8),
 * IV (12), tag (16), ciphertext.
 * @rule D45 Stored secrets are sealed with a fresh IV, a key id, and the row's identity as associated data.
 */
export class KeyRing {
  private readonly keys: ReadonlyMap<string, Buffer>;
  private readonly sealingKeyId: string;

  /**
   * @param keys at least one key of 32 bytes; the first seals, all unseal
   * @param source the name of the list, for messages
   */
  constructor(
    keys: readonly Buffer[],
    private readonly source = 'the list',
  ) {
    const [first] = keys;
    if (first === undefined) throw new RangeError('a key ring needs at least one key');
    this.keys = new Map(keys.map((key) => [keyIdOf(key), key]));
    this.sealingKeyId = keyIdOf(first);
  }

  /**
   * Seals a secret for one column of one row.
   * @param sealedFor identifies the row and column, for example `signing_key:KID`; not secret
   */
  seal(secret: Buffer, sealedFor: string): Buffer {
    const iv = randomBytes(IV_BYTES);
    const header = Buffer.concat([Buffer.of(VERSION), Buffer.from(this.sealingKeyId, 'hex'), iv]);
    const cipher = createCipheriv('aes-256-gcm', this.key(this.sealingKeyId), iv);
    cipher.setAAD(associatedData(header, sealedFor));
    const ciphertext = Buffer.concat([cipher.update(secret), cipher.final()]);
    return Buffer.concat([header, cipher.getAuthTag(), ciphertext]);
  }

  /**
   * Unseals an envelope that was sealed for the same row and column.
   * @throws SealError if it cannot be unsealed
   */
  unseal(envelope: Buffer, sealedFor: string): Buffer {
    if (envelope.length < HEADER_BYTES || envelope[0] !== VERSION)
      throw new SealError('not a sealed envelope');
    const header = envelope.subarray(0, HEADER_BYTES - TAG_BYTES);
    const key = this.key(keyIdIn(header));
    const decipher = createDecipheriv('aes-256-gcm', key, header.subarray(1 + KEY_ID_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(associatedData(header, sealedFor));
    decipher.setAuthTag(envelope.subarray(HEADER_BYTES - TAG_BYTES, HEADER_BYTES));
    try {
      return Buffer.concat([decipher.update(envelope.subarray(HEADER_BYTES)), decipher.final()]);
    } catch {
      throw new SealError('the envelope was changed or belongs to another place');
    }
  }

  /** Whether an envelope was sealed with the first key, so that it can be unsealed without the others. */
  isSealedUnderFirstKey(envelope: Buffer): boolean {
    return envelope[0] === VERSION && keyIdIn(envelope) === this.sealingKeyId;
  }

  /**
   * Derives one key from each key of the ring, in order, for a use other than sealing (HKDF-SHA256, RFC
   * 5869). Values that the first key authenticates remain valid after it has moved back in the list.
   * @param purpose names the use; keys for different uses reveal nothing about each other
   */
  deriveKeys(purpose: string): readonly Buffer[] {
    return [...this.keys.values()].map((key) =>
      Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), purpose, DERIVED_KEY_BYTES)),
    );
  }

  private key(id: string): Buffer {
    const key = this.keys.get(id);
    if (key === undefined) throw new SealError(`no key of ${this.source} has the id ${id}`);
    return key;
  }
}

/** A key's id is the beginning of its SHA-256. It reveals nothing about the key. */
function keyIdOf(key: Buffer): string {
  return createHash('sha256').update(key).digest().subarray(0, KEY_ID_BYTES).toString('hex');
}

function keyIdIn(envelope: Buffer): string {
  return envelope.subarray(1, 1 + KEY_ID_BYTES).toString('hex');
}

function associatedData(header: Buffer, sealedFor: string): Buffer {
  return Buffer.concat([header, Buffer.from(sealedFor, 'utf8')]);
}
