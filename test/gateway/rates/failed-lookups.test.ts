import { expect, it } from 'vitest';
import { Meter } from '../../../gateway/rates/rate.ts';
import { openFailedLooks } from '../../../gateway/rates/rates.ts';

/* Failed looks at chains are counted for the agent that asks and for the payer of the stamp. */

const looks = () => openFailedLooks(new Meter({ count: 2, seconds: 600 }, { now_ms: () => 1_800_000_000_000 }));

it('a payer whose looks have failed rests under any agent, and an agent under any payer', () => {
  const { rest, countFailure: failed } = looks();
  failed(['agent:1', 'payer:0xa']);
  failed(['agent:2', 'payer:0xa']);
  expect(rest(['agent:1', 'payer:0xb'])).toBeNull();
  expect(rest(['agent:3', 'payer:0xa'])?.seconds).toBeGreaterThan(0);
  failed(['agent:1']);
  expect(rest(['agent:1', 'payer:0xc'])).not.toBeNull();
  expect(rest(['agent:2', 'payer:0xc'])).toBeNull();
});

it('whose looks have not failed never rests', () => {
  const { rest } = looks();
  for (let count = 0; count < 10; count++) expect(rest(['agent:1'])).toBeNull();
});
