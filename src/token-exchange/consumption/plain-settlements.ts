// What a host without a statement of its own does in the place of the short way: the ids are consumed, and that is all.
import type { Settled, Settlement } from '../host/settlements.js';
import { Settlements } from '../host/settlements.js';
import type { JtiRepository } from './jti.repository.js';

/** Every user is then resolved in a transaction, as one who needs a change is. */
export class PlainSettlements extends Settlements {
  constructor(private readonly jtis: JtiRepository) {
    super();
  }

  async settle({ uses }: Settlement): Promise<Settled> {
    await this.jtis.consume(uses);
    return { isSettled: false };
  }
}
