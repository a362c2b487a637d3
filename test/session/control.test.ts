import fc from 'fast-check';
import { getAddress } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import { limits } from '../../schema/limits.ts';
import { parseRequest } from '../../schema/requests/parse.ts';
import { RegistrationRequest } from '../../schema/requests/registration.ts';
import {
  checksumAddress,
  controlText,
  isFresh,
  proveControl,
  requestHash,
} from '../../subgraphs/session/registration/control.ts';
import { recoverPersonalSigner } from '../../subgraphs/session/registration/personal-sign.ts';

const NOW_S = 1_790_000_000;
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const wallet = privateKeyToAccount('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d');

async function signed(members: { at?: number; task_id?: string; request_hash?: string } = {}) {
  const { at = NOW_S, task_id = null, request_hash = null } = members;
  const wallet_signature = await wallet.signMessage({ message: controlText(wallet.address, at, task_id) });
  return { agentWallet: wallet.address, task_id, wallet_signature, signature_timestamp: at, request_hash };
}

describe('personal_sign', () => {
  test('whoever signs is recovered, whatever the text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), async text => {
        const account = privateKeyToAccount(generatePrivateKey());
        expect(recoverPersonalSigner(text, await account.signMessage({ message: text }))).toBe(account.address);
      }),
      { numRuns: 25 },
    );
  });

  test('v as 0/1 is read like 27/28', async () => {
    const signature = await wallet.signMessage({ message: 'x' });
    const v = Number.parseInt(signature.slice(-2), 16) - 27;
    expect(recoverPersonalSigner('x', `${signature.slice(0, -2)}0${v}`)).toBe(wallet.address);
  });

  test('the twin signature in the upper half of s is refused (EIP-2)', async () => {
    const signature = await wallet.signMessage({ message: 'x' });
    const s = ORDER - BigInt(`0x${signature.slice(66, 130)}`);
    const v = signature.endsWith('1b') ? '1c' : '1b';
    const twin = `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${v}`;
    expect(recoverPersonalSigner('x', twin)).toBeNull();
  });

  test('what is no signature recovers nobody and throws nothing', () => {
    fc.assert(
      fc.property(fc.string(), text => {
        expect(recoverPersonalSigner('x', text)).toBeNull();
      }),
    );
    const hex = fc.uint8Array({ minLength: 0, maxLength: 80 }).map(bytes => `0x${Buffer.from(bytes).toString('hex')}`);
    fc.assert(
      fc.property(hex, text => {
        expect(recoverPersonalSigner('x', text)).not.toBe(wallet.address);
      }),
    );
    for (const edge of ['00'.repeat(65), 'ff'.repeat(65)]) expect(recoverPersonalSigner('x', `0x${edge}`)).toBeNull();
  });
});

describe('the control proof of a registration', () => {
  test('is proven by a fresh signature of the wallet, and names its request hash', async () => {
    const request = await signed();
    const text = `svc.register.pay|${wallet.address}|${NOW_S}`;
    expect(proveControl(request, NOW_S * 1000)).toEqual({
      kind: 'proven',
      wallet: wallet.address,
      request_hash: requestHash(text),
    });
  });

  test('accepts the wallet in lower case, and signs for its checksum spelling', async () => {
    const request = { ...(await signed()), agentWallet: wallet.address.toLowerCase() };
    expect(proveControl(request, NOW_S * 1000)).toMatchObject({ kind: 'proven', wallet: wallet.address });
  });

  test('holds exactly within its window', () => {
    const ahead = limits.wallet_signature_ahead_seconds_max;
    const age = limits.wallet_signature_age_seconds_max;
    fc.assert(
      fc.property(fc.integer({ min: -1000, max: 1000 }), fc.integer({ min: 0, max: 999 }), (late_s, ms) => {
        expect(isFresh(NOW_S, (NOW_S + late_s) * 1000 + ms)).toBe(late_s >= -ahead && late_s <= age);
      }),
    );
  });

  test('to recover does not pass for paying, nor for another task', async () => {
    const recover = await signed({ task_id: 'task_a' });
    expect(proveControl(recover, NOW_S * 1000)).toMatchObject({ kind: 'proven' });
    for (const task_id of [null, 'task_b']) {
      expect(proveControl({ ...recover, task_id }, NOW_S * 1000)).toEqual({ kind: 'foreign_signature' });
    }
  });

  test('of another wallet, of another time, without signature: each has its own name', async () => {
    const request = await signed();
    const other = privateKeyToAccount(generatePrivateKey()).address;
    const at = NOW_S * 1000;
    expect(proveControl({ ...request, agentWallet: other }, at)).toEqual({ kind: 'foreign_signature' });
    expect(proveControl({ ...request, signature_timestamp: NOW_S - 1 }, at)).toEqual({ kind: 'foreign_signature' });
    expect(proveControl(request, at + 301_000)).toEqual({ kind: 'stale' });
    expect(proveControl({ ...request, wallet_signature: null }, at)).toEqual({ kind: 'missing' });
    expect(proveControl({ ...request, signature_timestamp: null }, at)).toEqual({ kind: 'missing' });
    expect(proveControl({ ...request, agentWallet: '0x12' }, at)).toEqual({ kind: 'invalid_wallet' });
  });

  test('a request_hash is checked where it is given', async () => {
    const right = requestHash(controlText(wallet.address, NOW_S, null));
    const at = NOW_S * 1000;
    expect(proveControl(await signed({ request_hash: right.toUpperCase().replace('0X', '0x') }), at).kind).toBe(
      'proven',
    );
    expect(proveControl(await signed({ request_hash: `0x${'0'.repeat(64)}` }), at).kind).toBe('wrong_request_hash');
  });
});

test('an address with a broken checksum is no address', () => {
  const lower = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
  expect(checksumAddress(lower)).toBe(getAddress(lower));
  expect(checksumAddress(getAddress(lower).replace('C5', 'c5'))).toBeNull();
  expect(checksumAddress('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v')).toBeNull();
});

describe('the body of a registration', () => {
  test('absent and null are one canonical form; unknown members are gone', () => {
    const bare = parseRequest(RegistrationRequest, { agentWallet: '0x', extra: 1 });
    expect(parseRequest(RegistrationRequest, { agentWallet: '0x', task_id: null, request_hash: null })).toEqual(bare);
    expect(parseRequest(RegistrationRequest, bare)).toEqual(bare);
    expect(Object.keys(bare)).not.toContain('extra');
  });

  test.each([
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
