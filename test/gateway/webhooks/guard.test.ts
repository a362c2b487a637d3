import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attempt, faults } from '../../../gateway/webhooks/attempt.ts';
import { AddressRefused, guardLookup, type Resolve } from '../../../gateway/webhooks/look-up.ts';
import { isPublicAddress } from '../../../schema/webhook/public-address.ts';
import { atEnd } from '../../harness/release.ts';
import { openReceiver } from '../../harness/webhook/receiver.ts';

/* Which addresses may be connected to. A canary on loopback counts every connection that must not be made. */

const PUBLIC = '93.184.216.34';

async function openCanary() {
  let connections = 0;
  const server: Server = createServer(socket => {
    connections++;
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(async () => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    get connections() {
      return connections;
    },
  };
}

const send = (url: string, reach: 'public' | 'local', resolve: Resolve) =>
  attempt({ url, headers: {}, body: '{}', signal: new AbortController().signal }, { reach, resolve });
const to =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses;
const refused = { kind: 'failed', status: null, error: faults.address_refused, retry_after_ms: null };

describe('an address that is not of the public internet', () => {
  it.each([
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '0.1.2.3',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '100.127.255.255',
    '224.0.0.1',
    '239.1.1.1',
    '240.0.0.1',
    '255.255.255.255',
    '192.0.0.8',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '192.88.99.1',
    '::',
    '::1',
    '::7f00:1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:93.184.216.34',
    '::ffff:0:127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::5db8:d822',
    '64:ff9b:1::1',
    '64:ff9b:1:ffff::7f00:1',
    '2002:7f00:1::',
    '2001::1',
    '2001:db8::1',
    '3fff::1',
    'fc00::1',
    'fd12::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '100::1',
    '2001:10::1',
    '2001:20::1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    'localhost',
    '',
    '1.1.1.1:80',
    '[::1]',
  ])('%s', address => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it('any that holds an IPv4 address, whichever it is', () => {
    fc.assert(
      fc.property(fc.ipV4(), address => {
        for (const prefix of ['::', '::ffff:', '64:ff9b::', '::ffff:0:'])
          expect(isPublicAddress(prefix + address)).toBe(false);
      }),
    );
  });
});

it.each(['1.1.1.1', PUBLIC, '172.15.0.1', '172.32.0.1', '100.63.255.255', '100.128.0.1', '2606:4700::1111', '2a00::1'])(
  '%s is of it',
  address => {
    expect(isPublicAddress(address)).toBe(true);
  },
);

describe('a name', () => {
  it.each([
    ['leads to loopback', to('127.0.0.1')],
    ['leads to a public address and to loopback', to(PUBLIC, '127.0.0.1')],
    ['leads to loopback as IPv6 maps it', to('::ffff:127.0.0.1')],
    ['leads to the metadata of a cloud', to('169.254.169.254')],
  ])('that %s is not connected to', async (_, resolve) => {
    const canary = await openCanary();
    expect(await send(`https://rebind.example.com:${canary.port}/`, 'public', resolve)).toEqual(refused);
    expect(canary.connections).toBe(0);
  });

  it('is judged by the very look-up that is connected by, each time anew: what was public once is not trusted', async () => {
    const answers = [[PUBLIC], ['127.0.0.1']];
    const resolve: Resolve = async () => answers.shift() ?? [];
    const lookUp = () =>
      new Promise(heard =>
        guardLookup('public', resolve)('rebind.example.com', { all: true }, (...said) => heard(said)),
      );
    expect(await lookUp()).toEqual([null, [{ address: PUBLIC, family: 4 }]]);
    expect(await lookUp()).toEqual([expect.any(AddressRefused), '']);
    expect(answers).toEqual([]);
  });

  it('is asked once for one attempt: whoever says something else a moment later is not asked', async () => {
    const canary = await openCanary();
    let asked = 0;
    const resolve: Resolve = async () => [asked++ === 0 ? '10.0.0.1' : '127.0.0.1'];
    expect(await send(`https://rebind.example.com:${canary.port}/`, 'public', resolve)).toEqual(refused);
    expect([asked, canary.connections]).toEqual([1, 0]);
  });

  it('that fails first and leads to loopback then is refused, too', async () => {
    const canary = await openCanary();
    let asked = 0;
    const resolve: Resolve = async () => {
      if (asked++ === 0) throw Object.assign(new Error('no'), { code: 'EAI_AGAIN' });
      return ['127.0.0.1'];
    };
    const url = `https://flaky.example.com:${canary.port}/`;
    expect(await send(url, 'public', resolve)).toMatchObject({ kind: 'failed', error: faults.not_resolved });
    expect(await send(url, 'public', resolve)).toEqual(refused);
    expect(canary.connections).toBe(0);
  });

  it('without any address is not resolved', async () => {
    expect(await send('https://none.example.com/', 'public', to())).toMatchObject({ error: faults.not_resolved });
  });
});

describe('a URL that was set under test', () => {
  it.each(['http://127.0.0.1', 'http://localhost', 'https://127.0.0.1', 'https://localhost'])(
    'is not connected to by an operator’s service: %s',
    async origin => {
      const canary = await openCanary();
      expect(await send(`${origin}:${canary.port}/`, 'public', to('127.0.0.1'))).toEqual(refused);
      expect(canary.connections).toBe(0);
    },
  );
});

describe('an answer', () => {
  it.each([301, 302, 303, 307, 308])('%i is a failure, and leads to nobody else', async status => {
    const canary = await openCanary();
    const receiver = await openReceiver(() => ({ status, headers: { location: `http://127.0.0.1:${canary.port}/` } }));
    expect(await send(receiver.url, 'local', to('127.0.0.1'))).toEqual({
      kind: 'failed',
      status,
      error: faults.redirected,
      retry_after_ms: null,
    });
    expect(canary.connections).toBe(0);
  });

  it('of any length is read to its bound alone, and not told', async () => {
    const receiver = await openReceiver(() => ({ status: 500, text: 'secret '.repeat(1_000_000) }));
    const outcome = await send(receiver.url, 'local', to('127.0.0.1'));
    expect(outcome).toEqual({
      kind: 'failed',
      status: 500,
      error: 'The receiver responded with HTTP 500.',
      retry_after_ms: null,
    });
  });

  it('with headers beyond the bound is a failure', async () => {
    const receiver = await openReceiver(() => ({ status: 200, headers: { long: 'h'.repeat(20_000) } }));
    expect(await send(receiver.url, 'local', to('127.0.0.1'))).toMatchObject({ kind: 'failed', status: null });
  });

  it('410 says that it wants no more; Retry-After is heard', async () => {
    const gone = await openReceiver(() => ({ status: 410 }));
    expect(await send(gone.url, 'local', to('127.0.0.1'))).toEqual({ kind: 'gone' });
    const busy = await openReceiver(() => ({ status: 429, headers: { 'retry-after': '7' } }));
    expect(await send(busy.url, 'local', to('127.0.0.1'))).toMatchObject({ status: 429, retry_after_ms: 7_000 });
  });
});

it('a certificate that is not of the name is not trusted', async () => {
  const receiver = await openReceiver();
  // Plain http where TLS is expected: the handshake fails before anything is sent.
  const outcome = await send(`https://127.0.0.1:${receiver.port}/`, 'local', to('127.0.0.1'));
  expect(outcome).toMatchObject({ kind: 'failed', status: null });
  expect(receiver.received).toHaveLength(0);
});
