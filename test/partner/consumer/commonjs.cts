// A backend of CommonJS that uses the packed client: the same, by require.
import { PartnerError, createPartner } from '@embedded-token-exchange/partner';
import { settings } from './settings.mjs';

async function run(): Promise<void> {
  const required = require('@embedded-token-exchange/partner') as { PartnerError: unknown };
  const partner = createPartner(settings());
  const token = await partner.exchange({ subject: { sub: 'ada', email: 'ada@partner.example' } });
  const { fields } = await partner.embedForm({ subject: 'ada' });
  const refusal = await partner.exchange({ subject: '' }).catch((error: unknown) => error);
  const isOne = required.PartnerError === PartnerError && refusal instanceof PartnerError;
  const told = isOne ? refusal.code : undefined;
  console.log(JSON.stringify({ token: token.accessToken, login: fields.token, refusal: told }));
}

void run();
