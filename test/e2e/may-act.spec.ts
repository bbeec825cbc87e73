// Who may act for a subject whose token says so itself.
import { Partner } from '../../demo/partner.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { TestService } from '../support/test-service.js';

describeOnAnyDatabase('[P.mayAct] a subject token with may_act', (database) => {
  const partner = Partner.create({ issuer: 'https://partner.example' });
  const other = Partner.create({ issuer: 'https://other.example' });
  const service = TestService.forBlock(database, {
    trustedKeys: [partner.staticEntry({ name: 'the partner' }), other.staticEntry()],
  });

  const exchange = (mayAct: unknown, actor: string) =>
    service.exchange({
      subject_token: partner.sign(partner.claims({ sub: 'alice', may_act: mayAct })),
      actor_token: actor,
    });
  const robot = () => partner.sign(partner.claims({ sub: 'robot' }));

  it('[P.mayAct] refuses another actor, and leaves its jti unused', async () => {
    const actor = robot();
    const answer = await exchange({ sub: 'somebody' }, actor);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      error: 'invalid_grant',
      error_description: 'Token exchange failed',
    });
    expect((await exchange({ sub: 'robot' }, actor)).status).toBe(200);
  });

  it('[P.name] an entry’s name stands in the metrics', async () => {
    const metrics = await (await service.fetch('/metrics')).text();
    expect(metrics).toContain('svc_trusted_keys{entry="the partner",issuer="https://partner.example"} 1');
    expect(metrics).toContain('svc_trusted_keys{entry="entry-1",issuer="https://other.example"} 1');
  });
});
