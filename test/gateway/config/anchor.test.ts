import { expect, it } from 'vitest';
import { type Config, readConfig } from '../../../gateway/config/read-config.ts';
import { openAnchors } from '../../../gateway/log/anchor/open-anchors.ts';

it('ANCHOR_SECONDS and ANCHOR_FEE_DAY_MAX (gwei) are whole numbers; unset, the profile decides', () => {
  expect(readConfig({})).toMatchObject({ anchor_seconds: null, anchor_fee_day_max: null });
  const given = readConfig({ ANCHOR_SECONDS: '60', ANCHOR_FEE_DAY_MAX: '0' });
  expect(given).toMatchObject({ anchor_seconds: 60, anchor_fee_day_max: 0 });
  expect(() => readConfig({ ANCHOR_SECONDS: '0' })).toThrow(/ANCHOR_SECONDS/);
  expect(() => readConfig({ ANCHOR_FEE_DAY_MAX: '0.5' })).toThrow(/ANCHOR_FEE_DAY_MAX/);
});

it.each([
  ['development', 30],
  ['production', 3_600],
] as const)(
  'in %s the log is anchored every %i seconds, unless ANCHOR_SECONDS says otherwise',
  async (profile, seconds) => {
    const config = {
      ...readConfig({}),
      profile,
      stand_ins: [],
      anchor_key: '11'.repeat(32),
      base_rpc_url: 'http://127.0.0.1:9',
    };
    for (const [anchor_seconds, pace_seconds] of [
      [null, seconds],
      [60, 60],
    ]) {
      const parts = { database: {}, chain: {}, issuer: { jwks: {} } } as never;
      const anchors = openAnchors({ ...config, anchor_seconds } as unknown as Config, parts);
      expect(anchors?.pace_ms).toBe((pace_seconds ?? 0) * 1_000);
      await anchors?.close();
    }
  },
);
