import { expect, it } from 'vitest';
import { holderOf } from '../../schema/address-holder.ts';

it.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:198.51.100.7', '198.51.100.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::9', '2001:db8:1:2'],
  ['2001:db8::1:0:0:9', '2001:db8:0:0'],
  ['2001:DB8:0001:02::9', '2001:db8:1:2'],
  ['::1', '0:0:0:0'],
  ['', ''],
])('connections of %j count for %j', (address, holder) => {
  expect(holderOf(address)).toBe(holder);
});
