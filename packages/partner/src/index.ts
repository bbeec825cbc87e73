// The public exports of the package.
export { PartnerError } from './partner-error.js';
export type { InstanceErrorCode, LocalErrorCode, PartnerErrorCode } from './partner-error.js';
export { createPartner } from './partner.js';
export type { Partner, PartnerOptions } from './partner.js';
export type { Explanation } from './token-endpoint.js';
export type { AccessToken, ExchangeRequest } from './exchange-request.js';
export type { ProvedRequest } from './dpop-key.js';
export type { EmbedForm, EmbedRequest, HtmlOptions } from './embed-form.js';
export type { Party, Person } from './person.js';
export type { KeyInput, NamedKey, PrivateKey, SigningAlgorithm } from './signing-key.js';
export type { PartnerClock } from './clock.js';
