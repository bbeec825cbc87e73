// A statement that hangs must not hold up the few who come after it: another lane opens for them as well.
import { setTimeout as pause } from 'node:timers/promises';
import { Batch } from '../../../src/database/batch.js';

/** Twice the time after which a statement counts as hanging. */
const PATIENCE_MS = 200;

describe('the few who come after a statement that hangs', () => {
  it('are answered while it still hangs, although nobody else comes', async () => {
    const batch = new Batch<number, string>((items) =>
      items.includes(0) ? new Promise(() => undefined) : Promise.resolve(items.map(String)),
    );
    void batch.add(0);
    await pause(10);
    const answers: string[] = [];
    for (const item of [1, 2, 3]) void batch.add(item).then((answer) => answers.push(answer));
    await pause(PATIENCE_MS);
    expect(answers).toEqual(['1', '2', '3']);
    void batch.add(4).then((answer) => answers.push(answer));
    await pause(PATIENCE_MS);
    expect(answers).toEqual(['1', '2', '3', '4']);
  });
});
