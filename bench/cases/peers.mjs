// Token exchanges: the service against each of the chosen peers, by one load program, in one run.
import { compareExchanges, overPeer } from '../support/comparison.mjs';

export const peers = {
  name: 'peers',
  title: 'Token exchange, ES256, known users: the service on PostgreSQL against the peers of --peer',

  async run(workbench) {
    const { peers: chosen } = workbench.options;
    const service = await workbench.startService();
    const rivals = [];
    for (const peer of chosen) rivals.push(await peer.start(workbench));
    const comparisons = chosen.flatMap(overPeer);
    const result = await compareExchanges(workbench, [service, ...rivals], 'ES256', comparisons);
    return {
      ...result,
      remarks: [rivals.map(({ name, version }) => `${name}: version ${version}`).join('\n')],
    };
  },
};
