import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../gateway/config/read-config.ts';

describe('what settling may cost', () => {
  it.each([
    ['SETTLE_FEE_MAX', '1', 'settle_fee_max', 1n],
    ['SETTLE_FEE_MAX', undefined, 'settle_fee_max', 4_000n],
    ['SETTLE_FEE_DAY_MAX', '340282366920938463463374607431768211456', 'settle_fee_day_max', 2n ** 128n],
    ['SETTLE_FEE_DAY_MAX', undefined, 'settle_fee_day_max', 100_000_000n],
    ['ETH_USD', '3000', 'eth_usd', 3_000_000_000n],
    ['ETH_USD', '3000.5', 'eth_usd', 3_000_500_000n],
    ['ETH_USD', '0.000001', 'eth_usd', 1n],
    ['ETH_USD', undefined, 'eth_usd', null],
  ] as const)('%s %s is read as atomic USDC', (variable, value, name, amount) => {
    expect(readConfig({ [variable]: value })[name]).toBe(amount);
  });

  it.each([
    ['SETTLE_FEE_MAX', ['0', '-1', '1.5', '0x10', '1e3', ' 1', '01']],
    ['SETTLE_FEE_DAY_MAX', ['0', '1,000']],
    ['ETH_USD', ['0', '0.0', '-1', '.5', '3000.', '3000.1234567', '1e3', 'NaN']],
  ])('%s is refused where it is no such amount', (variable, values) => {
    for (const value of values)
      expect(() => readConfig({ [variable]: value }), value).toThrow(new RegExp(`^${variable}: not a `, 'm'));
  });
});
