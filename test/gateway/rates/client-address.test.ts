import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { compileTrust } from '../../../gateway/config/forms.ts';
import { clientAddress, spellForwarded } from '../../../gateway/rates/client-address.ts';

const PROXY = '10.0.0.1';

function addressOf(forwarded: string | undefined, { connected = PROXY, proxies = [PROXY, '2001:db8::1'] } = {}) {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  const request = { headers, socket: { remoteAddress: connected } } as unknown as IncomingMessage;
  return clientAddress(request, compileTrust(proxies));
}

/** A request after its header was normalized. */
function forwardedTo(forwarded: string, connected = PROXY) {
  const request = { headers: { 'x-forwarded-for': forwarded }, socket: { remoteAddress: connected } };
  spellForwarded(request as unknown as IncomingMessage, compileTrust([PROXY]));
  return request as unknown as IncomingMessage;
}

it.each([
  ['198.51.100.7', '198.51.100.7'],
  ['198.51.100.7:51234', '198.51.100.7'],
  ['::ffff:198.51.100.7', '198.51.100.7'],
  ['::FFFF:C633:6407', '198.51.100.7'],
  ['[::ffff:198.51.100.7]:443', '198.51.100.7'],
  ['2001:db8:0:7::1', '2001:db8:0:7:0:0:0:1'],
  ['2001:DB8:0000:0007:0:0:0:1', '2001:db8:0:7:0:0:0:1'],
  ['[2001:db8:0:7::1]', '2001:db8:0:7:0:0:0:1'],
  ['[2001:db8:0:7::1]:51234', '2001:db8:0:7:0:0:0:1'],
  ['64:ff9b::c633:6407', '198.51.100.7'],
  ['fe80::1%eth0', 'fe80:0:0:0:0:0:0:1'],
])('a proxy that writes %j means %s', (forwarded, address) => {
  expect(addressOf(forwarded)).toBe(address);
});

it.each([
  'unknown',
  '_hidden',
  '198.51.100',
  '198.51.100.07',
  '198.51.100.7:port',
  '0xc6.51.100.7',
  '[198.51.100.7',
  '1',
])('what is no address, as %j, counts as the proxy that wrote it', forwarded => {
  expect(addressOf(forwarded)).toBe(PROXY);
  expect(addressOf(`203.0.113.9, ${forwarded}`)).toBe(PROXY);
});

it('each proxy that is believed is passed, whatever spelling the one before it has used', () => {
  expect(addressOf('198.51.100.7:1, [2001:DB8:0::1]:2')).toBe('198.51.100.7');
  expect(addressOf('198.51.100.7, 203.0.113.9, 2001:db8::1')).toBe('203.0.113.9');
});

it.each([',', 'a:,', '::,', '198.51.100.7,', '10.0.0.1,'])(
  'what a believed proxy writes is read no further than it counts: 64 KiB of %j',
  piece => {
    const text = piece.repeat(Math.floor(65_536 / piece.length));
    const { headers } = forwardedTo(text);
    expect(String(headers['x-forwarded-for'] ?? '').split(',').length).toBeLessThanOrEqual(32);
    expect(addressOf(text)).toMatch(/^(10\.0\.0\.1|198\.51\.100\.7|0:0:0:0:0:0:0:0)$/);
  },
);

it('of whoever is not believed nothing is read', () => {
  expect(forwardedTo('198.51.100.7', '203.0.113.9').headers).toEqual({});
});

it('nobody else is believed', () => {
  expect(addressOf('198.51.100.7', { connected: '203.0.113.9' })).toBe('203.0.113.9');
  expect(addressOf('198.51.100.7', { connected: '::ffff:203.0.113.9' })).toBe('203.0.113.9');
  expect(addressOf('198.51.100.7', { connected: `::ffff:${PROXY}` })).toBe('198.51.100.7');
  expect(addressOf(undefined)).toBe(PROXY);
});
