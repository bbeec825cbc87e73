// The types of credential: good data passes, bad data is refused by a sentence that names the member and no value.
import {
  CREDENTIAL_TYPES,
  CredentialSchemas,
} from '../../../../src/workspace/credentials/credential-types.js';

const schemas = new CredentialSchemas();
const PEM = '-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n';
const database = { host: 'db.example', database: 'd', user: 'u', password: 'p' };

const EXAMPLES: Record<string, object> = {
  httpBasicAuth: { user: 'u', password: 'p' },
  httpBearerAuth: { token: 't' },
  httpHeaderAuth: { name: 'X-Api-Key', value: 'v' },
  httpQueryAuth: { name: 'key', value: 'v' },
  jwtAuth: { algorithm: 'ES256', privateKey: PEM },
  oAuth2Api: {
    grantType: 'clientCredentials',
    clientId: 'c',
    clientSecret: 's',
    accessTokenUrl: 'https://idp.example/token',
  },
  postgres: { ...database, port: 5432, ssl: 'verify-full' },
  mySql: database,
  microsoftSql: { ...database, encrypt: true },
  mongoDb: { connectionString: 'mongodb+srv://u:p@db.example/d' },
  redis: { host: '::1', database: 15 },
  smtp: { host: 'mail.example', port: 587 },
  imap: { host: 'mail.example', port: 993, user: 'u', password: 'p', secure: true },
  s3: { accessKeyId: 'a', secretAccessKey: 's', region: 'eu-central-1', endpoint: 'https://s3.example' },
  slackApi: { accessToken: 'xoxb' },
  githubApi: { accessToken: 'ghp' },
  openAiApi: { apiKey: 'sk' },
  anthropicApi: { apiKey: 'sk' },
  sshPassword: { host: '10.0.0.1', username: 'u', password: 'p', port: 22 },
  sshPrivateKey: { host: 'h', username: 'u', privateKey: PEM },
};

describe('the credential types', () => {
  it('are about a dozen, each with an example here', () => {
    expect(CREDENTIAL_TYPES.size).toBeGreaterThanOrEqual(12);
    expect(Object.keys(EXAMPLES).sort()).toEqual([...CREDENTIAL_TYPES.keys()].sort());
  });

  it.each([...CREDENTIAL_TYPES.keys()])(
    '%s accepts its example, without missing or additional properties',
    (type) => {
      const example = EXAMPLES[type] ?? {};
      expect(schemas.problemOf(type, example)).toBeUndefined();
      expect(schemas.problemOf(type, { ...example, hunter2: 'hunter2' })).toMatch(
        /^data has an unknown property; known are /,
      );
      for (const member of CREDENTIAL_TYPES.get(type)?.required ?? []) {
        const less = Object.fromEntries(Object.entries(example).filter(([name]) => name !== member));
        expect(schemas.problemOf(type, less)).toMatch(new RegExp(`^data\\.${member} is required$`));
      }
    },
  );

  it.each([
    ['postgres', { ...database, port: 0 }, 'data.port must be >= 1'],
    ['postgres', { ...database, port: '5432' }, 'data.port must be integer'],
    [
      'postgres',
      { ...database, ssl: 'hunter2' },
      'data.ssl must be one of disable, allow, require, verify-ca, verify-full',
    ],
    ['postgres', { ...database, host: 'hunter2/../x' }, 'data.host must match pattern'],
    ['httpHeaderAuth', { name: 'X', value: 'a\r\nSet-Cookie: hunter2' }, 'data.value must match pattern'],
    ['githubApi', { accessToken: 'a', server: 'javascript:hunter2' }, 'data.server must match pattern'],
    ['jwtAuth', { algorithm: 'HS256', privateKey: PEM }, 'data.secret is required'],
    ['jwtAuth', { algorithm: 'none' }, 'data.algorithm must be one of HS256'],
    [
      'sshPrivateKey',
      { host: 'h', username: 'u', privateKey: 'hunter2' },
      'data.privateKey must match pattern',
    ],
    [
      'oAuth2Api',
      { grantType: 'authorizationCode', clientId: 'c', accessTokenUrl: 'https://idp.example/t' },
      'data.authorizationUrl is required',
    ],
    ['toString', {}, 'type is not known'],
  ])('%s rejects %j: %s', (type, data, problem) => {
    const told = schemas.problemOf(type, data) ?? '';
    expect(told).toContain(problem);
    expect(told).not.toContain('hunter2');
  });
});
