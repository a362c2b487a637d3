import { expect, it } from 'vitest';
import { identify } from '../../../gateway/graph/identify.ts';
import { openPort, type PortParts } from '../../../gateway/http/door-port.ts';

/* What has a bound for each address: an IPv6 customer has as many of them as he likes, and is counted once. */

const CUSTOMER = '2001:db8:0:7';
const ADDRESSES = [`${CUSTOMER}::1`, `${CUSTOMER}:ffff::2`];

/** As whom a caller is counted where files come in and where a contract is asked about his payment. */
async function counted(address: string): Promise<readonly string[]> {
  const seen: string[] = [];
  const parts = {
    judge: { prove: async (_: unknown, from: string) => seen.push(from) },
    beginUpload: (sender: { address: string }) => seen.push(sender.address),
  } as unknown as PortParts;
  const port = openPort(parts);
  await port.prove({} as Parameters<typeof port.prove>[0], address);
  port.beginUpload({ payer: null, address });
  return seen;
}

it.each(ADDRESSES)('%s has the line and the upload room of its /64', async address => {
  expect(await counted(address)).toEqual([CUSTOMER, CUSTOMER]);
});

it.each(ADDRESSES)('%s is its /64 to the till and to every resolver', async address => {
  const shown = { sessions: [], agent: null, proof: null, api_key: null, address };
  const services = { keyring: () => ({ kind: 'absent' }), board_keys: () => null } as unknown as Parameters<
    typeof identify
  >[1];
  expect((await identify(shown, services)).address).toBe(CUSTOMER);
});

it('an IPv4 address stands for itself', async () => {
  expect(await counted('203.0.113.7')).toEqual(['203.0.113.7', '203.0.113.7']);
});
