// The fields of a token-exchange request: required fields, maximum lengths, and error messages.
import { parse } from 'node:querystring';
import {
  readGrantType,
  readTokenExchangeForm,
  readTokenForm,
} from '../../../../src/token-exchange/exchange/token-exchange.form.js';
import { isRequestRefusal } from '../../../../src/token-exchange/refusals/oauth-refusal.js';

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const good = { grant_type: GRANT, subject_token: 'subject.token' };

const encoded = (members: Record<string, string>) => new URLSearchParams(members).toString();
const read = (body: string | undefined) => {
  const form = readTokenForm(parse(body ?? ''));
  const switches = { exchange: { enabled: true }, idAssertion: { enabled: false } };
  readGrantType(form, { switches, takesPlainJwts: () => false });
  return readTokenExchangeForm(form);
};
const withFields = (rest: string) => `${encoded(good)}&${rest}`;

function refusal(body: string | undefined): [kind: string, message: string] {
  try {
    read(body);
  } catch (error) {
    if (isRequestRefusal(error)) return [error.reason, error.message];
    throw error;
  }
  return ['accepted', ''];
}

describe('accepted fields', () => {
  it('[4.2.subject_token] the subject token alone is enough', () => {
    const { subjectToken, actorToken, scope, resource } = read(encoded(good));
    expect({ subjectToken, actorToken, scope, resource }).toEqual({ subjectToken: 'subject.token' });
  });

  it('[4.2.actor_token] an actor token is accepted with it', () => {
    expect(read(withFields('actor_token=actor.token')).actorToken).toBe('actor.token');
  });

  it.each(['subject_token_type', 'actor_token_type', 'requested_token_type'])(
    '[4.2.subject_token_type] %s is ignored',
    (name) => {
      for (const value of ['', 'urn:ietf:params:oauth:token-type:jwt', 'nonsense', 'x'.repeat(5_000)]) {
        expect(refusal(encoded({ ...good, [name]: value }))).toEqual(['accepted', '']);
      }
    },
  );

  it.each([
    ['https://a.example', ['https://a.example']],
    ['https://a.example urn:b', ['https://a.example', 'urn:b']],
    ['  https://a.example   urn:b ', ['https://a.example', 'urn:b']],
    [' ', undefined],
    ['', undefined],
  ])('[4.2.resource] %j is a list of URIs separated by spaces', (resource, expected) => {
    expect(read(encoded({ ...good, resource })).resource).toEqual(expected);
  });

  it.each(['actor_token=', 'actor_token', 'actor_token=&actor_token_type=', 'actor_token_type=urn:x'])(
    '[D16] %s means no actor',
    (rest) => expect(read(withFields(rest)).actorToken).toBeUndefined(),
  );

  it.each([
    ['resource=urn:a&resource=urn:b', ['urn:a', 'urn:b']],
    ['resource=urn:a%20urn:b&resource=&resource=urn:a', ['urn:a', 'urn:b', 'urn:a']],
    ['resource=&resource=', undefined],
    ['audience=a&audience=b', undefined],
    [`resource=${'x'.repeat(2048)}&resource=`, ['x'.repeat(2048)]],
  ])('[D16] %s: resource and audience may be repeated', (rest, expected) => {
    expect(read(withFields(rest)).resource).toEqual(expected);
  });

  it.each([
    ['a line feed at the end', 'a.b.c\n'],
    ['a Windows line end at the end', 'a.b.c\r\n'],
    ['white space on both sides', ' \t\r\na.b.c \t\r\n'],
    ['no white space', 'a.b.c'],
  ])('[D16] tokens are accepted with %s', (_, token) => {
    const { subjectToken, actorToken } = read(encoded({ ...good, subject_token: token, actor_token: token }));
    expect([subjectToken, actorToken]).toEqual(['a.b.c', 'a.b.c']);
  });
});

describe('grant_type', () => {
  it.each([
    undefined,
    'grant_type',
    'grant_type=authorization_code',
    `grant_type=${GRANT}%20`,
    `grant_type=${GRANT.toUpperCase()}`,
    `grant_type=${GRANT}s`,
    `grant_type[]=${GRANT}`,
    `grant_type=${GRANT}%00`,
    `Grant_type=${GRANT}`,
  ])('[4.2.grant_type] is unsupported in the body %p', (body) => {
    expect(refusal(body)[0]).toBe('unsupported_grant_type');
  });

  it.each(['subject_token=', 'actor_token=', 'subject_token[]=x', 'scope=a&scope=b', 'scope=%00'])(
    '[D20] is checked before other fields: %s',
    (rest) => {
      expect(refusal(`grant_type=password&${rest}`)[0]).toBe('unsupported_grant_type');
      expect(refusal(rest)[0]).toBe('unsupported_grant_type');
    },
  );
});

describe('rejected fields', () => {
  it.each([
    ['subject_token', `grant_type=${GRANT}`],
    ['subject_token', `grant_type=${GRANT}&subject_token=%20%0A`],
    ['subject_token', withFields('subject%5Ftoken=other')],
    ['subject_token', withFields('subject_token%5B%5D=other')],
    ['actor_token', withFields('actor_token=&actor_token_type=urn:ietf:params:oauth:token-type:jwt')],
    ['actor_token', withFields('actor_token=%20')],
    ['actor_token', withFields('actor_token=x&actor_token=y')],
    ['client_id', withFields('client_id=a&client_id=b')],
    ['scope', withFields('scope=a&scope=b')],
    ['resource', withFields(`resource=${'x'.repeat(2047)}&resource=xx`)],
    ['audience', withFields(`audience=${'x'.repeat(1023)}&audience=xx`)],
  ])('[D16][K6] the error names the field %s: %s', (field, body) => {
    const [kind, message] = refusal(body);
    expect(kind).toBe('field_invalid');
    expect(message).toContain(field);
  });

  it.each([
    ['[4.2.scope] scope', 1024],
    ['[4.2.audience] audience', 1024],
    ['[4.2.resource] resource', 2048],
  ])('%s is limited to %d characters', (title, limit) => {
    const [, name = ''] = title.split(' ');
    const judged = (value: string) => refusal(encoded({ ...good, [name]: value }));
    expect(judged('x'.repeat(limit))).toEqual(['accepted', '']);
    expect(judged('😀'.repeat(limit))).toEqual(['accepted', '']);
    expect(judged('x'.repeat(limit + 1))).toEqual([
      'field_invalid',
      `${name} must have at most ${limit} characters`,
    ]);
    expect(judged('😀'.repeat(limit + 1))[0]).toBe('field_invalid');
    // The variation selector after an emoji is a separate character.
    expect(judged('x\ufe0f'.repeat(limit))[0]).toBe('field_invalid');
  });

  it.each(['scope', 'resource'])('[D16] the recorded field %s must not contain a token', (field) => {
    const token = `${'eyJhbGciOiJFUzI1NiJ9'}.${'eyJzdWIiOiJhIn0aaaa'}.${'c2lnbmF0dXJlIG9mIGl0'}`;
    for (const value of [token, `urn:x subject_token=${token}`])
      expect(refusal(encoded({ ...good, [field]: value }))).toEqual([
        'field_invalid',
        `${field} must not contain a token`,
      ]);
    expect(refusal(encoded({ ...good, [field]: 'workflow.read.all eyJ.a.b' }))).toEqual(['accepted', '']);
  });

  it('[D16] an error message contains no value', () => {
    const bodies = [
      withFields('subject_token=marker'),
      withFields(`scope=${'marker'.repeat(300)}`),
      'grant_type=marker',
    ];
    for (const body of bodies) expect(refusal(body)[1]).not.toContain('marker');
  });
});
