// A backend of ES modules that uses the packed client: exchanges, and makes a login form.
import type { AccessToken, PartnerErrorCode } from '@embedded-token-exchange/partner';
import { createPartner, PartnerError } from '@embedded-token-exchange/partner';
import { settings } from './settings.mjs';

const partner = createPartner(settings());
const token: AccessToken = await partner.exchange({ subject: { sub: 'ada', email: 'ada@partner.example' } });
const { fields } = await partner.embedForm({ subject: 'ada' });
const refusal: PartnerErrorCode | undefined = await partner
  .exchange({ subject: '' })
  .then(() => undefined)
  .catch((error: unknown) => (error instanceof PartnerError ? error.code : undefined));
console.log(JSON.stringify({ token: token.accessToken, login: fields.token, refusal }));
