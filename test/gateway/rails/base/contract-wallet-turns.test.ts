import secp256k1 from 'secp256k1';
import { describe, expect, it, vi } from 'vitest';
import { openJudge } from '../../../../gateway/call/judge.ts';
import { openRespond } from '../../../../gateway/call/respond.ts';
import type { Hex } from '../../../../gateway/rails/base/abi.ts';
import { authorizationDigest } from '../../../../gateway/rails/base/authorization.ts';
import type { BaseChain } from '../../../../gateway/rails/base/chain.ts';
import { UnprovenPayments } from '../../../../gateway/rails/base/contract-wallet-turns.ts';
import { VALID_SIGNATURE } from '../../../../gateway/rails/base/contracts.ts';
import { signatureOf, signatureToJson } from '../../../../gateway/rails/base/signature.ts';
import { baseJudge } from '../../../../gateway/rails/base/verify-authorization.ts';
import { type BasePayment, claimKey } from '../../../../gateway/rails/payment.ts';
import type { Rails } from '../../../../gateway/rails/rail.ts';
import { verifyPayment } from '../../../../gateway/rails/verify.ts';
import { openChallenges } from '../../../../gateway/x402/offer.ts';
import { limits } from '../../../../schema/limits.ts';
import type { PresentedPayment } from '../../../../subgraphs/context.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { newPayer, signAuthorization } from '../../../bench/authorizations.ts';
import { paymentHeader } from '../../../bench/payments.ts';
import { PAY_TO } from '../../../harness/base/wallet.ts';

const ADDRESS = '203.0.113.7';
const NOT_SIGNED = { kind: 'rejected', reason: 'invalid_exact_evm_payload_signature' };

/** A payment signed by a key that is not its payer's. */
function unsigned(payer: Hex = newPayer().address): BasePayment {
  const { authorization: own, signature } = signAuthorization(newPayer(), PAY_TO);
  const authorization = { ...own, payer };
  return { authorization, signature: signatureOf(payer, authorizationDigest(authorization), signature) };
}

/** A chain and a database that count their calls and answer as the test sets. */
function ground() {
  const world = {
    now_ms: 1_000_000,
    codes: 0,
    simulated: 0,
    statements: [] as string[],
    contracts: new Set<string>(),
    known: new Set<string>(),
    /** Payers that have paid, but not within the last day. */
    long_ago: new Set<string>(),
    claims: new Map<string, object>(),
    /** The answer of a wallet's code, if it answers. */
    says: async (): Promise<Hex | null> => VALID_SIGNATURE,
  };
  const ok = async <T>(value: T) => ({ kind: 'ok' as const, value });
  const chain = {
    code(address: Hex) {
      world.codes++;
      return ok(world.contracts.has(address) ? '0x60' : '0x');
    },
    async simulate() {
      world.simulated++;
      return ok(await world.says());
    },
    market: () => ok({ head: { base_fee_wei: 1n }, priority_fee_wei: 1n, keys: [] }),
  } as unknown as BaseChain;
  const database = {
    async query({ name, values = [] }: { name: string; values?: unknown[] }) {
      world.statements.push(name);
      if (name === 'contract payers among')
        return (values[0] as string[])
          .map(payer => ({ payer, lately: world.known.has(payer) }))
          .filter(({ payer, lately }) => lately || world.long_ago.has(payer));
      const claim = world.claims.get(String(values[0]));
      return claim ? [claim] : [];
    },
  } as unknown as Database;
  const clock = { now_ms: () => world.now_ms };
  const parts = { chain, database, clock, wallet_factories: new Set<string>(), settles_from: PAY_TO as Hex };
  return { world, unproven: new UnprovenPayments(parts) };
}

describe('a payment that no key of its payer has signed', () => {
  it('is refused where no code stands, and a thousand in that name ask the chain and the database a few times', async () => {
    const { world, unproven } = ground();
    const payer = newPayer().address;
    for (let sent = 0; sent < 1_000; sent++)
      expect(await unproven.prove(unsigned(payer), `203.0.113.${sent % 250}`)).toEqual(NOT_SIGNED);
    expect(world.codes).toBeLessThanOrEqual(4);
    expect(world.statements.length).toBeLessThanOrEqual(4);
    expect(world.simulated).toBe(0);
  });

  it('is taken as soon as its wallet stands, though it was refused a moment before', async () => {
    const { world, unproven } = ground();
    const payer = newPayer().address;
    expect(await unproven.prove(unsigned(payer), ADDRESS)).toEqual(NOT_SIGNED);
    world.contracts.add(payer);
    expect(await unproven.prove(unsigned(payer), ADDRESS)).toEqual({ kind: 'proven' });
  });

  it('is looked at anew after a moment, however many came in that name', async () => {
    const { world, unproven } = ground();
    const payer = newPayer().address;
    for (let sent = 0; sent < 20; sent++) await unproven.prove(unsigned(payer), ADDRESS);
    world.contracts.add(payer);
    world.now_ms += limits.payer_look_ms;
    expect(await unproven.prove(unsigned(payer), ADDRESS)).toEqual({ kind: 'proven' });
  });

  it('is never taken for what was found a moment before: the wallet itself is asked about each', async () => {
    const { world, unproven } = ground();
    const payer = newPayer().address;
    world.contracts.add(payer);
    const good = unsigned(payer);
    expect(await unproven.prove(good, ADDRESS)).toEqual({ kind: 'proven' });
    world.says = async () => null;
    expect(await unproven.prove(unsigned(payer), ADDRESS)).toEqual(NOT_SIGNED);
    const asked = world.simulated;
    // The settlement checks once more the very payment that was checked on arrival.
    expect(await unproven.prove(good, ADDRESS)).toEqual({ kind: 'proven' });
    expect(world.simulated).toBe(asked);
  });

  it('is the payer’s where it was claimed by that very signature, whatever stands there now', async () => {
    const { world, unproven } = ground();
    const bought = unsigned();
    const { payer } = bought.authorization;
    const other = { ...bought, signature: unsigned(payer).signature };
    world.known.add(payer);
    const authorization = { signature: signatureToJson(bought.signature) };
    world.claims.set(claimKey(bought.authorization), { authorization });
    expect(await unproven.prove(bought, ADDRESS)).toEqual({ kind: 'proven' });
    expect(await unproven.prove(other, ADDRESS)).toEqual(NOT_SIGNED);
  });

  it('is the payer’s where it was claimed long ago by that signature and its code is gone; to try that is bounded', async () => {
    const { world, unproven } = ground();
    const bought = unsigned();
    const { payer } = bought.authorization;
    world.long_ago.add(payer);
    const authorization = { signature: signatureToJson(bought.signature) };
    world.claims.set(claimKey(bought.authorization), { authorization });
    expect(await unproven.prove(bought, ADDRESS)).toEqual({ kind: 'proven' });
    expect(await unproven.prove(unsigned(payer), ADDRESS)).toEqual(NOT_SIGNED);

    const wallet = newPayer().address;
    world.contracts.add(wallet);
    for (let asked = 2; asked < limits.unproven_questions_max; asked++)
      expect(await unproven.prove(unsigned(wallet), ADDRESS)).toEqual({ kind: 'proven' });
    const before = world.statements.length;
    expect(await unproven.prove(unsigned(payer), ADDRESS)).toMatchObject({ kind: 'no_turn' });
    expect(world.statements.length).toBeLessThanOrEqual(before + 1);
  });

  it('has few turns; payers whose code has paid have others, and so do those who come from elsewhere', async () => {
    const { world, unproven } = ground();
    const [known, stranger] = [newPayer().address, newPayer().address];
    const forged = Array.from(
      { length: limits.unproven_turns_at_once_max + limits.unproven_waiting_per_address_max },
      () => newPayer().address,
    );
    for (const payer of [known, stranger, ...forged]) world.contracts.add(payer);
    world.known.add(known);
    // The code of no wallet answers for now.
    const silent = Promise.withResolvers<null>();
    world.says = () => silent.promise;
    const stalled = forged.map(payer => unproven.prove(unsigned(payer), ADDRESS));
    await expect.poll(() => world.simulated).toBe(limits.unproven_turns_at_once_max);
    expect(await unproven.prove(unsigned(stranger), ADDRESS)).toMatchObject({ kind: 'no_turn' });

    world.says = async () => VALID_SIGNATURE;
    expect(await unproven.prove(unsigned(known), ADDRESS)).toEqual({ kind: 'proven' });
    const elsewhere = unproven.prove(unsigned(stranger), '203.0.113.8');
    silent.resolve(null);
    expect(await elsewhere).toEqual({ kind: 'proven' });
    await Promise.all(stalled);
  });

  it('in the name of a payer who has paid keeps that payer waiting for no more than its own turn', async () => {
    const { world, unproven } = ground();
    const known = newPayer().address;
    world.contracts.add(known);
    world.known.add(known);
    const answers: string[] = [];
    const lying = Array.from(
      { length: limits.unproven_turns_at_once_max + limits.unproven_waiting_per_address_max },
      () => unsigned(known),
    );
    world.says = async () => null;
    const refused = lying.map(async payment => {
      const { kind } = await unproven.prove(payment, ADDRESS);
      answers.push(kind);
    });
    const own = unproven.prove(unsigned(known), '203.0.113.8').then(() => answers.push('own'));
    await own;
    expect(answers.length).toBeLessThan(lying.length / 2);
    await Promise.all(refused);
    expect(new Set(answers)).toEqual(new Set(['rejected', 'own']));
  });

  it('of strangers is asked about so often in the name of one address, and as often from another', async () => {
    const { world, unproven } = ground();
    const prove = (address: string) => {
      const payer = newPayer().address;
      world.contracts.add(payer);
      return unproven.prove(unsigned(payer), address);
    };
    const kinds = new Map<string, number>();
    for (let sent = 0; sent < limits.unproven_questions_max + 10; sent++) {
      const { kind } = await prove(ADDRESS);
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
    expect(Object.fromEntries(kinds)).toEqual({ proven: limits.unproven_questions_max, no_turn: 10 });
    expect(await prove('203.0.113.8')).toEqual({ kind: 'proven' });
    world.now_ms += 1_000;
    expect(await prove(ADDRESS)).toEqual({ kind: 'proven' });
  });
});

describe('a forged payment', () => {
  it('is refused a second later beyond so many of one address, and at once from another', async () => {
    const { unproven } = ground();
    const payer = newPayer().address;
    const prove = (address: string) => unproven.prove(unsigned(payer), address);
    const sent = Array.from({ length: limits.forged_per_address_second_max }, () => prove(ADDRESS));
    expect(new Set((await Promise.all(sent)).map(({ kind }) => kind))).toEqual(new Set(['rejected']));
    const order: string[] = [];
    const late = prove(ADDRESS).then(() => order.push('late'));
    await prove('203.0.113.8').then(() => order.push('elsewhere'));
    await late;
    expect(order).toEqual(['elsewhere', 'late']);
  });
});

describe('a payment that a key has signed', () => {
  it('is proven by that alone, whoever sends it and however often: nobody is asked', async () => {
    const { world, unproven } = ground();
    for (let sent = 0; sent < 500; sent++) {
      const { authorization, signature } = signAuthorization(newPayer(), PAY_TO);
      const digest = authorizationDigest(authorization);
      const payment = { authorization, signature: signatureOf(authorization.payer, digest, signature) };
      expect(await unproven.prove(payment, ADDRESS)).toEqual({ kind: 'proven' });
    }
    expect(world).toMatchObject({ codes: 0, simulated: 0, statements: [] });
  });

  it('is recovered once, by the door, for the charge as well', async () => {
    const recover = vi.spyOn(secp256k1, 'ecdsaRecover');
    const { unproven } = ground();
    const rails = { base: { ...baseJudge, prove: unproven.prove.bind(unproven) }, solana: null } as unknown as Rails;
    const clock = { now_ms: () => Date.now() };
    const pay_to = { base: PAY_TO };
    const respond = openRespond(openChallenges(pay_to), 'https://svc.test');
    const terms = { amount_atomic: 2000n, networks: ['base'] as const };
    const header = paymentHeader(signAuthorization(newPayer(), PAY_TO));
    const judge = openJudge({
      rails,
      pay_to,
      clock,
      sold: new Map(),
      log: { halt: null },
      database: null as never,
      respond,
    });
    const judgement = await judge.judge({ x402_version: 2, header }, terms);
    expect(judgement.kind).toBe('proven');
    const { presented } = judgement as Extract<typeof judgement, { kind: 'proven' }>;
    const offered = { ...terms, pay_to, validity_seconds_min: 10, now_ms: Date.now() };
    expect((await verifyPayment(presented as PresentedPayment, offered, rails)).kind).toBe('verified');
    expect(recover).toHaveBeenCalledTimes(1);
  });
});
