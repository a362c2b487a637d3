import fc from 'fast-check';
import { getAddress, hashMessage } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../schema/limits.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import { RegistrationRequest } from '../../../schema/requests/registration.ts';
import {
  checksumAddress,
  controlText,
  isFresh,
  proveControl,
  requestHashOf,
  textHash,
} from '../../../subgraphs/session/registration/control.ts';
import { keyWallets, walletsAnswering } from '../../harness/session/wallets.ts';

const NOW_S = 1_790_000_000;
type Account = ReturnType<typeof privateKeyToAccount>;
const wallet = privateKeyToAccount('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d');

async function signed(members: { at?: number; task_id?: string; request_hash?: string } = {}, by: Account = wallet) {
  const { at = NOW_S, task_id = null, request_hash = null } = members;
  const wallet_signature = await by.signMessage({ message: controlText(by.address, at, task_id) });
  return { agentWallet: by.address, task_id, wallet_signature, signature_timestamp: at, request_hash };
}

const prove = (request: RegistrationRequest, now_ms: number) =>
  proveControl(request, now_ms, { wallets: keyWallets, asker: '127.0.0.1' });

describe('the control proof of a registration', () => {
  it('is proven by a fresh signature of the wallet, and names its request hash', async () => {
    const text = `svc.register.pay|${wallet.address}|${NOW_S}`;
    expect(await prove(await signed(), NOW_S * 1000)).toEqual({
      kind: 'proven',
      wallet: wallet.address,
      text_hash: textHash(text),
      signed_at_seconds: NOW_S,
    });
  });

  it('is proven for whichever wallet signs, and for no other', async () => {
    for (let tries = 0; tries < 20; tries++) {
      const [one, other] = [1, 2].map(() => privateKeyToAccount(generatePrivateKey())) as [Account, Account];
      const request = await signed({}, one);
      expect((await prove(request, NOW_S * 1000)).kind).toBe('proven');
      expect((await prove({ ...request, agentWallet: other.address }, NOW_S * 1000)).kind).toBe('foreign_signature');
    }
  });

  it('accepts the wallet in lower case, and signs for its checksum spelling', async () => {
    const request = { ...(await signed()), agentWallet: wallet.address.toLowerCase() };
    expect(await prove(request, NOW_S * 1000)).toMatchObject({ kind: 'proven', wallet: wallet.address });
  });

  it('holds exactly within its window', () => {
    const ahead = limits.wallet_signature_ahead_seconds_max;
    const age = limits.wallet_signature_age_seconds_max;
    fc.assert(
      fc.property(fc.integer({ min: -1000, max: 1000 }), fc.integer({ min: 0, max: 999 }), (late_s, ms) => {
        expect(isFresh(NOW_S, (NOW_S + late_s) * 1000 + ms)).toBe(late_s >= -ahead && late_s <= age);
      }),
    );
  });

  it('to recover does not pass for paying, nor for another task', async () => {
    const recover = await signed({ task_id: 'task_a' });
    expect(await prove(recover, NOW_S * 1000)).toMatchObject({ kind: 'proven' });
    for (const task_id of [null, 'task_b']) {
      expect(await prove({ ...recover, task_id }, NOW_S * 1000)).toEqual({ kind: 'foreign_signature' });
    }
  });

  it('of another wallet, of another time, without signature: each has its own name', async () => {
    const request = await signed();
    const other = privateKeyToAccount(generatePrivateKey()).address;
    const at = NOW_S * 1000;
    expect(await prove({ ...request, agentWallet: other }, at)).toEqual({ kind: 'foreign_signature' });
    expect(await prove({ ...request, signature_timestamp: NOW_S - 1 }, at)).toEqual({ kind: 'foreign_signature' });
    expect(await prove(request, at + 301_000)).toEqual({ kind: 'stale' });
    expect(await prove({ ...request, wallet_signature: null }, at)).toEqual({ kind: 'missing' });
    expect(await prove({ ...request, signature_timestamp: null }, at)).toEqual({ kind: 'missing' });
    expect(await prove({ ...request, agentWallet: '0x12' }, at)).toEqual({ kind: 'invalid_wallet' });
  });

  it('is named by the signed text, whatever the request_hash that comes with it', async () => {
    const text_hash = textHash(controlText(wallet.address, NOW_S, null));
    const other = await signed({ request_hash: `0x${'AB'.repeat(32)}` });
    expect(await prove(other, NOW_S * 1000)).toMatchObject({ kind: 'proven', text_hash });
    expect(requestHashOf(other, text_hash)).toBe(`0x${'ab'.repeat(32)}`);
    expect(requestHashOf(await signed(), text_hash)).toBe(text_hash);
  });
});

describe('the wallet behind a control proof', () => {
  it('is asked for its word on the EIP-191 digest of the text, with the signature as it came', async () => {
    const asked = walletsAnswering('valid');
    const request = { ...(await signed({ task_id: 'task_a' })), wallet_signature: `0x${'ab'.repeat(700)}` };
    expect(await proveControl(request, NOW_S * 1000, { wallets: asked, asker: '127.0.0.1' })).toMatchObject({
      kind: 'proven',
    });
    const text = `svc.register.recover|task_a|${wallet.address}|${NOW_S}`;
    const digest = hashMessage(text, 'bytes');
    expect(asked.calls).toEqual([{ wallet: wallet.address, digest, signature: request.wallet_signature }]);
  });

  it.each([
    ['valid', 'proven'],
    ['invalid', 'foreign_signature'],
    ['unreachable', 'unreachable'],
  ] as const)('that says %s makes it %s', async (verdict, kind) => {
    expect(
      (await proveControl(await signed(), NOW_S * 1000, { wallets: walletsAnswering(verdict), asker: '' })).kind,
    ).toBe(kind);
  });

  it('is asked nothing where the request alone can tell', async () => {
    const asked = walletsAnswering('valid');
    const request = await signed();
    const at = NOW_S * 1000;
    for (const [broken, now_ms] of [
      [{ ...request, agentWallet: '0x12' }, at],
      [{ ...request, wallet_signature: null }, at],
      [request, at + 301_000],
      ...['', '0x', '0x1', 'ab'.repeat(65), `0x${'zz'.repeat(65)}`].map(
        wallet_signature => [{ ...request, wallet_signature }, at] as const,
      ),
    ] as const) {
      expect((await proveControl(broken, now_ms, { wallets: asked, asker: '' })).kind).not.toBe('proven');
    }
    expect(asked.calls).toEqual([]);
  });
});

it('an address with a broken checksum is no address', () => {
  const lower = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
  expect(checksumAddress(lower)).toBe(getAddress(lower));
  expect(checksumAddress(getAddress(lower).replace('C5', 'c5'))).toBeNull();
  expect(checksumAddress('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v')).toBeNull();
});

describe('the body of a registration', () => {
  it('absent and null are one canonical form', () => {
    const bare = parseRequest(RegistrationRequest, { agentWallet: '0x' });
    expect(parseRequest(RegistrationRequest, { agentWallet: '0x', task_id: null, request_hash: null })).toEqual(bare);
    expect(parseRequest(RegistrationRequest, bare)).toEqual(bare);
  });

  it('takes what contract wallets sign, as long as a payment may be, and no longer', () => {
    const bytes = (count: number) => ({ agentWallet: '0x', wallet_signature: `0x${'ab'.repeat(count)}` });
    expect(parseRequest(RegistrationRequest, bytes(6_000)).wallet_signature).toHaveLength(12_002);
    expect(() => parseRequest(RegistrationRequest, bytes(6_001))).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  });

  it.each([
    [{}, 'agentWallet'],
    [{ agentWallet: 7 }, 'agentWallet'],
    [{ agentWallet: '0x', request_hash: '0x12' }, 'request_hash'],
    [{ agentWallet: '0x', signature_timestamp: 1.5 }, 'signature_timestamp'],
    [{ agentWallet: '\ud800' }, 'agentWallet'],
  ])('%j is refused, naming %s', (body, param) => {
    expect(() => parseRequest(RegistrationRequest, body)).toThrow(
      expect.objectContaining({ code: 'invalid_request', extensions: expect.objectContaining({ param }) }),
    );
  });
});
