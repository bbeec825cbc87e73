// Remembered access tokens: only the signature's verdict is remembered, for exactly the same characters.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { AccessTokenService } from '../../../../src/token-exchange/tokens/access-token.service.js';
import type {
  LoadedKey,
  SigningKeyService,
} from '../../../../src/token-exchange/tokens/signing-key.service.js';
import { knownRevocations } from '../../../support/known-revocations.js';
import { TestClock } from '../../../support/test-clock.js';

const OPTIONS = { issuer: 'https://instance.example' };
const LIFE_SECONDS = 60;

function newKey(kid: string): LoadedKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { kid, privateKey, publicKey, publicJwk: {}, signsFrom: new Date(0) };
}

/** The first key signs. */
class Keys {
  readonly list = [newKey('first')];

  current(): LoadedKey {
    return this.list[0]!;
  }

  find(kid: string): Promise<LoadedKey | undefined> {
    return Promise.resolve(this.list.find((key) => key.kid === kid));
  }
}

describe('remembered access tokens', () => {
  let clock: TestClock;
  let keys: Keys;
  let tokens: AccessTokenService;

  const startMs = Date.UTC(2026, 0, 1);
  beforeEach(() => {
    clock = new TestClock(startMs);
    keys = new Keys();
    tokens = new AccessTokenService(keys as unknown as SigningKeyService, knownRevocations(), clock, OPTIONS);
  });

  const issue = () => {
    const iat = Math.floor(clock.nowSeconds());
    const claims = {
      ...{ iss: OPTIONS.issuer, aud: OPTIONS.issuer, sub: 'subject', client_id: 'https://partner.example' },
      ...{ jti: randomUUID(), iat, exp: iat + LIFE_SECONDS, vouched_by: [], logins: [] },
    };
    return tokens.sign(claims, keys.current());
  };

  it.each([
    ['that was accepted before', true],
    ['that comes for the first time', false],
  ])('[4.3] a token %s is rejected from the second of its expiry', async (_, isRemembered) => {
    const token = issue();
    const verdictAt = async (ageSeconds: number) => {
      const moment = new TestClock(startMs);
      const service = new AccessTokenService(
        keys as unknown as SigningKeyService,
        knownRevocations(),
        moment,
        OPTIONS,
      );
      if (isRemembered) expect(await service.verify(token)).toBeDefined();
      moment.advance(ageSeconds);
      return (await service.verify(token)) !== undefined;
    };
    const ages = [0, LIFE_SECONDS - 1, LIFE_SECONDS - 0.001, LIFE_SECONDS, LIFE_SECONDS + 0.001, 1e6];
    const verdicts: boolean[] = [];
    for (const age of ages) verdicts.push(await verdictAt(age));
    expect(verdicts).toEqual([true, true, true, false, false, false]);
  });

  it('[D31][K14] parts of two remembered tokens form no third token, nor does one changed character', async () => {
    const [one, other] = [issue(), issue()];
    for (const token of [one, other]) expect(await tokens.verify(token)).toBeDefined();
    const [header, payload, signature] = one.split('.') as [string, string, string];
    const [, otherPayload, otherSignature] = other.split('.') as [string, string, string];
    // The change is in the middle of a part, where every bit of a character is significant.
    const changed = (part: string) => `${part.slice(0, 20)}${part[20] === 'A' ? 'B' : 'A'}${part.slice(21)}`;
    const parts = [
      [header, otherPayload, signature],
      [header, payload, otherSignature],
      [changed(header), payload, signature],
      [header, changed(payload), signature],
      [header, payload, changed(signature)],
    ];
    const verdicts = await Promise.all(parts.map((each) => tokens.verify(each.join('.'))));
    expect(verdicts).toEqual(parts.map(() => undefined));
  });

  it('[5.3.2] a remembered token is forgotten with its signing key', async () => {
    const token = issue();
    expect(await tokens.verify(token)).toBeDefined();
    keys.list.splice(0, 1, newKey('second'));
    expect(await tokens.verify(token)).toBeUndefined();
    expect(await tokens.verify(issue())).toBeDefined();
  });
});
