// Why a client may not introspect.
import type { TokenRefusal } from '../refusals/refusal.js';

export const INTROSPECTION_REFUSALS = {
  introspection_not_allowed: {
    check: 'client',
    cause: 'no trusted entry lets the client introspect access tokens',
    remedy:
      'the operator allows it (`svc-admin clients add --introspect`) in an entry that is not suspended or ended',
    oauth: { status: 403, error: 'unauthorized_client', message: 'The client may not introspect tokens' },
  },
} satisfies Record<string, TokenRefusal>;
