import { describe, expect, it } from 'vitest';
import { ConfigFault } from '../../../gateway/config/fault.ts';
import { readConfig } from '../../../gateway/config/read-config.ts';
import { developmentBuyers, developmentFacilitators, usdcAdmin } from '../../../gateway/development/chain/accounts.ts';
import {
  developmentFeePayer,
  developmentSolanaBuyers,
  solanaWallet,
} from '../../../gateway/development/svm/wallets.ts';
import { sha256, sha256Hex } from '../../../schema/digest.ts';

/* What production refuses to start with, whatever development does. */

const secret = (name: string) => sha256Hex(`a secret of the tests: ${name}`);
const feePayer = solanaWallet(sha256('a fee payer of the tests'));

const production = {
  NODE_ENV: 'production',
  BASE_URL: 'https://pay.example',
  DATABASE_URL: 'postgresql://svc@db.example/svc?sslmode=verify-full',
  BASE_RPC_URL: 'https://base.example/rpc',
  FACILITATOR_KEYS: secret('facilitator'),
  PAY_TO_BASE: '0x2222222222222222222222222222222222222222',
  HUBS: JSON.stringify([{ name: 'one', base_url: 'https://hub.example/v1', api_key: 'k', models: ['m'] }]),
  ISSUER_KEYS: `${secret('issuer')},${secret('retired')}`,
  SEAL_KEY: secret('seal'),
  SUBGRAPH_SECRET: secret('subgraph'),
  ANCHOR_KEY: secret('anchor'),
  METRICS_TOKEN: secret('metrics'),
  API_KEYS: 'svc_live_91b2f3a05c',
  DEMO_KEYS: 'svc_demo_4c81e07d2a',
  WAIVER_KEYS: 'svc_waiver_70fd12be95',
  BOARD_OPS_SECRET: secret('ops'),
  BOARD_INBOUND_SECRET: secret('inbound'),
  SOLANA_RPC_URL: 'https://solana.example',
  SOLANA_FEE_PAYER_KEY: feePayer.private_key,
  PAY_TO_SOLANA: feePayer.address,
  ROUTER_URL: '',
};
type Name = keyof typeof production;

function faultsOf(given: Record<string, string>): string[] {
  try {
    readConfig({ ...production, ...given });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error;
    for (const value of Object.values(given)) expect(error.message).not.toContain(value);
    return [...new Set(error.faults.map(({ variable }) => variable))];
  }
}

it('takes what is well chosen', () => {
  expect(faultsOf({})).toEqual([]);
});

it('names all that is wrong at once, and shows none of it', () => {
  const given = {
    BASE_URL: 'http://pay.example',
    DATABASE_URL: 'postgresql://svc@db.example/svc',
    FACILITATOR_KEYS: developmentFacilitators[0]?.private_key ?? '',
    SEAL_KEY: 'q'.repeat(40),
    API_KEYS: 'quite-short-key',
    BOARD_INBOUND_SECRET: secret('ops'),
  };
  expect(faultsOf(given).sort()).toEqual(Object.keys(given).sort());
});

describe('a key that all the world knows', () => {
  const wallets = [usdcAdmin, ...developmentFacilitators, ...developmentBuyers];
  it.each(wallets)('$address: refused for settling, anchoring, signing, and as treasury', wallet => {
    const { private_key, address } = wallet;
    expect(faultsOf({ FACILITATOR_KEYS: `${secret('good')}, ${private_key}` })).toEqual(['FACILITATOR_KEYS']);
    expect(faultsOf({ ANCHOR_KEY: private_key.slice(2).toUpperCase() })).toEqual(['ANCHOR_KEY']);
    expect(faultsOf({ ISSUER_KEYS: `${secret('issuer')},${private_key}` })).toEqual(['ISSUER_KEYS']);
    expect(faultsOf({ PAY_TO_BASE: address.toLowerCase() })).toEqual(['PAY_TO_BASE']);
  });

  it.each([developmentFeePayer, ...developmentSolanaBuyers])('$address of Solana likewise', wallet => {
    expect(faultsOf({ SOLANA_FEE_PAYER_KEY: wallet.private_key })).toEqual(['SOLANA_FEE_PAYER_KEY']);
    expect(faultsOf({ PAY_TO_SOLANA: wallet.address })).toEqual(['PAY_TO_SOLANA']);
  });

  it("is refused where it is hardhat's twentieth, which our own files do not hold", () => {
    const twentieth = '0xdf57089febbacf7ba0bc227dafbffa9fc08a93fdc68e1e42411a14efcf23656e';
    expect(faultsOf({ FACILITATOR_KEYS: twentieth })).toEqual(['FACILITATOR_KEYS']);
  });
});

describe('a secret', () => {
  const long: Name[] = ['SEAL_KEY', 'SUBGRAPH_SECRET', 'METRICS_TOKEN', 'BOARD_OPS_SECRET', 'BOARD_INBOUND_SECRET'];
  it.each(long)('%s of 31 characters is refused, of 32 it is taken', name => {
    expect(faultsOf({ [name]: secret('other').slice(0, 31) })).toEqual([name]);
    expect(faultsOf({ [name]: secret('other').slice(0, 32) })).toEqual([]);
  });

  const keys: Name[] = ['API_KEYS', 'DEMO_KEYS', 'WAIVER_KEYS'];
  it.each(keys)('%s: one of 15 characters, or of one, is refused, of 16 it is taken', name => {
    expect(faultsOf({ [name]: `${production[name]},${secret('other').slice(0, 15)}` })).toEqual([name]);
    expect(faultsOf({ [name]: '~' })).toEqual([name]);
    expect(faultsOf({ [name]: secret('other').slice(0, 16) })).toEqual([]);
  });

  it.each([...long, ...keys, 'FACILITATOR_KEYS', 'ISSUER_KEYS', 'ANCHOR_KEY'] as const)(
    '%s of the same over and over is refused',
    name => {
      for (const weak of ['a'.repeat(64), 'a1'.repeat(32), '0123456789abcdef'.repeat(4), `${'0'.repeat(63)}1`])
        expect(faultsOf({ [name]: weak })).toEqual([name]);
    },
  );

  it('that is used twice is refused, however it is spelt', () => {
    expect(faultsOf({ ANCHOR_KEY: `0x${secret('issuer').toUpperCase()}` })).toEqual(['ANCHOR_KEY']);
    expect(faultsOf({ SUBGRAPH_SECRET: secret('seal') })).toEqual(['SUBGRAPH_SECRET']);
    expect(faultsOf({ DEMO_KEYS: production.API_KEYS })).toEqual(['DEMO_KEYS']);
    expect(faultsOf({ API_KEYS: `${production.API_KEYS},${production.API_KEYS}` })).toEqual(['API_KEYS']);
    expect(faultsOf({ FACILITATOR_KEYS: `${secret('one')},0x${secret('one')}` })).toEqual(['FACILITATOR_KEYS']);
  });
});

describe('what leaves the machine in the clear', () => {
  it.each(['BASE_RPC_URL', 'SOLANA_RPC_URL', 'BASE_URL'])('%s by http is refused, but on this machine', name => {
    for (const host of ['rpc.example', '10.0.0.7:8545', '127.0.0.1.example'])
      expect(faultsOf({ [name]: `http://${host}` })).toEqual([name]);
    for (const host of ['127.0.0.1:8545', 'localhost', '[::1]:8545'])
      expect(faultsOf({ [name]: `http://${host}` })).toEqual([]);
    expect(readConfig({ [name]: 'http://rpc.example' }).profile).toBe('development');
  });

  it.each([
    'postgresql://svc@db.example/svc',
    'postgresql://svc@10.0.0.7/svc?sslmode=disable',
    'postgresql://svc@db.example/svc?sslmode=prefer',
    'postgresql://svc@db.example/svc?sslmode=no-verify',
    'postgresql://svc@db.example/svc?sslmode=require&sslmode=disable',
    'postgresql://svc@localhost/svc?host=db.example',
    'postgresql://svc@db.example/svc?ssl=false',
  ])('Postgres at %s is refused, unless it is meant', DATABASE_URL => {
    expect(faultsOf({ DATABASE_URL })).toEqual(['DATABASE_URL']);
    expect(faultsOf({ DATABASE_URL, DATABASE_PLAIN: 'intended' })).toEqual([]);
    expect(readConfig({ DATABASE_URL }).profile).toBe('development');
  });

  it.each([
    'postgresql://svc@db.example/svc?sslmode=require',
    'postgresql://svc@db.example/svc?sslmode=verify-ca',
    'postgresql://svc@db.example/svc?ssl=true',
    'postgresql://svc@127.0.0.1:5433/svc',
    'postgresql://svc@localhost/svc?sslmode=disable',
    'postgresql://svc@[::1]/svc',
    'postgresql://svc@db.example/svc?host=/var/run/postgresql',
    'postgresql://svc@%2Fvar%2Frun%2Fpostgresql/svc',
  ])('Postgres at %s is taken', DATABASE_URL => {
    expect(faultsOf({ DATABASE_URL })).toEqual([]);
  });

  it('takes no other word for it', () => {
    expect(faultsOf({ DATABASE_PLAIN: 'yes, whatever' })).toEqual(['DATABASE_PLAIN']);
  });
});
