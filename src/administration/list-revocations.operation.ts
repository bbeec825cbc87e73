// Lists every trust revocation there ever was.
import type { TrustRevocation } from '../token-exchange/instance.js';
import { readNothing } from './input.js';
import type { ListOperation } from './operation.js';

/** Times are ISO 8601. */
export interface ListedRevocation {
  readonly issuer: string;
  /** Null: every key of the issuer. */
  readonly kid: string | null;
  readonly revokedAt: string;
  /** Null while it holds. */
  readonly restoredAt: string | null;
}

export const LIST_REVOCATIONS: ListOperation<Record<string, never>, ListedRevocation> = {
  name: 'keys revocations',
  read: readNothing,

  async *list(_input, { revocations }) {
    yield (await revocations.list()).map(listed);
  },
};

function listed({ issuer, kid, revokedAt, restoredAt }: TrustRevocation): ListedRevocation {
  return {
    issuer,
    kid,
    revokedAt: revokedAt.toISOString(),
    restoredAt: restoredAt?.toISOString() ?? null,
  };
}
