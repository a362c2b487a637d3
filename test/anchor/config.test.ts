import { expect, it } from 'vitest';
import { readConfig } from '../../gateway/config.ts';

it('ANCHOR_SECONDS and ANCHOR_FEE_DAY_MAX (gwei) are whole numbers; unset, the profile decides', () => {
  expect(readConfig({})).toMatchObject({ anchor_seconds: null, anchor_fee_day_max: null });
  const given = readConfig({ ANCHOR_SECONDS: '60', ANCHOR_FEE_DAY_MAX: '0' });
  expect(given).toMatchObject({ anchor_seconds: 60, anchor_fee_day_max: 0 });
  expect(() => readConfig({ ANCHOR_SECONDS: '0' })).toThrow(/ANCHOR_SECONDS/);
  expect(() => readConfig({ ANCHOR_FEE_DAY_MAX: '0.5' })).toThrow(/ANCHOR_FEE_DAY_MAX/);
});
