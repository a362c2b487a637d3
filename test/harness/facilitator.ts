import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { createKeyPairSignerFromBytes, getBase58Encoder } from '@solana/kit';
import { x402Facilitator } from '@x402/core/facilitator';
import type { PaymentPayload, PaymentRequirements, SettleResponse, VerifyResponse } from '@x402/core/types';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import { toFacilitatorSvmSigner } from '@x402/svm';
import { ExactSvmScheme } from '@x402/svm/exact/facilitator';
import { createWalletClient, type Hex, http, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { base } from 'viem/chains';
import { developmentFacilitators } from '../../gateway/development/chain/accounts.ts';
import { developmentFeePayer } from '../../gateway/development/svm/wallets.ts';
import { networks } from '../../schema/network.ts';
import { atEnd } from './release.ts';

/** The facilitator's answer, which may be false. */
export type FacilitatorReply =
  | { readonly kind: 'the_truth' }
  /** A hash that is not the one of the transaction that carried the payment. */
  | { readonly kind: 'success'; readonly transaction: string }
  | { readonly kind: 'failure'; readonly reason: string; readonly transaction?: string; readonly status?: number }
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'text'; readonly text: string }
  /** An answer that is valid JSON to its end, but that many bytes long. */
  | { readonly kind: 'flood'; readonly bytes: number }
  /** Accepts the request and never answers. */
  | { readonly kind: 'nothing' }
  /** Closes the connection. */
  | { readonly kind: 'hang_up' };

/** How one payment is treated: the answer to its verification, whether the money moves, and the answer to its settlement. */
export interface FacilitatorBehaviour {
  readonly verifies?: FacilitatorReply;
  /** Whether the facilitator stops listening between the verification and the settlement. */
  readonly leaves?: boolean;
  readonly settles: boolean;
  readonly reply: FacilitatorReply;
  /** Called between the settlement and the answer to it. */
  readonly meanwhile?: () => Promise<unknown> | unknown;
}

/** A request before its body is read, with the sender's credentials. */
export interface FacilitatorVisit {
  readonly method: string;
  /** `host/path` as the sender wrote it. */
  readonly place: string;
  readonly path: string;
  readonly authorization: string | null;
}
/** Returns the status by which a request is refused, or null to admit it. */
export type AdmissionRule = (knocking: FacilitatorVisit) => number | null | Promise<number | null>;

/** A request to settle a payment. */
export interface FacilitatorRequest {
  readonly payer: Hex;
  readonly nonce: Hex;
  readonly body: { readonly x402Version: number; readonly paymentPayload: PaymentPayload };
}

const BASE = { x402Version: 2, scheme: 'exact', network: networks.base.caip2 };
const SOLANA = { ...BASE, network: networks.solana.caip2, extra: { feePayer: developmentFeePayer.address } };

export const honest: FacilitatorBehaviour = { settles: true, reply: { kind: 'the_truth' } };

export interface FacilitatorOptions {
  /** URL of the node. It is read at the first request, because the chain may start after the facilitator. */
  readonly rpc_url: () => string;
  /** The key that pays gas. No other sender may use it, or their nonces would collide. */
  readonly private_key?: Hex;
  readonly factories?: readonly Hex[];
  /** URL of a Solana node on which it settles too, with the publicly known fee payer. */
  readonly svm_url?: () => string;
}

export type TestFacilitator = Awaited<ReturnType<typeof startFacilitator>>;

/**
 * An x402 facilitator over HTTP that is made of the official packages and whose behaviour a test sets. It is closed after the last test.
 */
export async function startFacilitator(options: FacilitatorOptions) {
  const settlements: FacilitatorRequest[] = [];
  let behaviour: (asked: FacilitatorRequest) => FacilitatorBehaviour = () => honest;
  let admits: AdmissionRule = () => null;
  const on_base = lazily(() => officialFacilitator(options));
  const on_solana = lazily(() => solanaFacilitator(options.svm_url?.() ?? ''));
  const facilitator = ({ network }: PaymentRequirements) => (network === SOLANA.network ? on_solana() : on_base());
  const settle = oneByOne(async (payload: PaymentPayload, requirements: PaymentRequirements) =>
    (await facilitator(requirements)).settle(payload, requirements),
  );

  const server = createServer(async (incoming, response) => {
    try {
      const { method = '', url: path = '' } = incoming;
      const { host = '', authorization = null } = incoming.headers;
      const status = await admits({ method, path, place: host + path, authorization });
      // Repeats the credentials that it received, as a careless facilitator does. They must not appear in any log of the service.
      if (status !== null) return send(response, { status, text: { error: 'unauthorized', shown: authorization } });
      if (incoming.url === '/supported')
        return send(response, {
          text: { kinds: options.svm_url ? [BASE, SOLANA] : [BASE], extensions: [], signers: {} },
        });
      const body = (await json(incoming)) as RequestBody;
      const asked = askedIn(body);
      const { verifies = { kind: 'the_truth' }, leaves, settles, reply: says, meanwhile } = behaviour(asked);
      if (incoming.url === '/verify' && leaves) {
        response.setHeader('connection', 'close');
        server.close();
      }
      const { paymentPayload, paymentRequirements } = body;
      if (incoming.url === '/verify')
        return tell(
          response,
          verifies,
          await (await facilitator(paymentRequirements)).verify(paymentPayload, paymentRequirements),
        );
      settlements.push(asked);
      const truth = settles ? await settle(paymentPayload, paymentRequirements) : notDone(asked);
      await meanwhile?.();
      tell(response, says, truth);
    } catch (fault) {
      send(response, { status: 500, text: { error: String(fault) } });
    }
  });
  const listen = (port: number) => new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>(resolve => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  atEnd(close);
  return {
    url: `http://127.0.0.1:${port}`,
    /** Every settlement that was requested, including repetitions. */
    settlements,
    behave(next: FacilitatorBehaviour | ((asked: FacilitatorRequest) => FacilitatorBehaviour)): void {
      behaviour = typeof next === 'function' ? next : () => next;
    },
    /** Sets the rule by which requests are admitted. By default all are. */
    demand(next: AdmissionRule): void {
      admits = next;
    },
    /** Stops listening until `resume` is called. */
    leave: close,
    resume: () => listen(port),
  };
}

interface RequestBody {
  readonly x402Version: number;
  readonly paymentPayload: PaymentPayload;
  readonly paymentRequirements: PaymentRequirements;
}

function officialFacilitator({ rpc_url, private_key, factories = [] }: FacilitatorOptions): x402Facilitator {
  const [, , last] = developmentFacilitators;
  const account = privateKeyToAccount(private_key ?? last?.private_key ?? '0x');
  const transport = http(rpc_url());
  const client = createWalletClient({ account, chain: base, transport, pollingInterval: 20 }).extend(publicActions);
  // The cast is safe: viem's methods accept and return everything that the signer's interface needs.
  const signer = toFacilitatorEvmSigner({ ...client, address: account.address } as unknown as EvmSigner);
  const scheme = new ExactEvmScheme(signer, { eip6492AllowedFactories: [...factories] });
  return new x402Facilitator().register(networks.base.caip2, scheme);
}

async function solanaFacilitator(rpc_url: string): Promise<x402Facilitator> {
  const signer = await createKeyPairSignerFromBytes(getBase58Encoder().encode(developmentFeePayer.private_key));
  const scheme = new ExactSvmScheme(toFacilitatorSvmSigner(signer, { defaultRpcUrl: rpc_url }));
  return new x402Facilitator().register(networks.solana.caip2, scheme);
}

type EvmSigner = Parameters<typeof toFacilitatorEvmSigner>[0];

function askedIn(body: RequestBody): FacilitatorRequest {
  const { authorization } = body.paymentPayload.payload as { authorization?: { from: Hex; nonce: Hex } };
  // A Solana payment has no such member, because its payer and nonce are inside the transaction.
  return { payer: authorization?.from ?? '0x', nonce: authorization?.nonce ?? '0x', body };
}

function notDone({ payer }: FacilitatorRequest): SettleResponse {
  const network = networks.base.caip2;
  return { success: false, errorReason: 'unexpected_settle_error', transaction: '', network, payer };
}

function tell(response: ServerResponse, says: FacilitatorReply, truth: SettleResponse | VerifyResponse): void {
  switch (says.kind) {
    case 'the_truth':
      send(response, { text: truth });
      break;
    case 'success':
      send(response, { text: { ...truth, success: true, transaction: says.transaction } });
      break;
    case 'failure': {
      const { reason, transaction = '', status } = says;
      send(response, { status, text: { ...truth, success: false, errorReason: reason, transaction } });
      break;
    }
    case 'status':
      send(response, { status: says.status, text: { error: 'as told' } });
      break;
    case 'text':
      send(response, says);
      break;
    case 'flood':
      flood(response, truth, says.bytes);
      break;
    case 'hang_up':
      response.destroy();
      break;
    case 'nothing':
  }
}

/** Sends JSON whose first member has that length. */
function flood(response: ServerResponse, truth: object, bytes: number): void {
  const chunk = 'x'.repeat(64 * 1024);
  let left = bytes;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"filling":"');
  const pour = () => {
    while (left > 0) {
      if (response.destroyed) return;
      left -= chunk.length;
      if (response.write(chunk)) continue;
      response.once('drain', pour);
      return;
    }
    response.end(`",${JSON.stringify(truth).slice(1)}`);
  };
  pour();
}

/** Sends an answer. Text is sent unchanged, anything else as JSON. */
function send(response: ServerResponse, { status = 200, text }: { status?: number | undefined; text: unknown }): void {
  const body = typeof text === 'string' ? text : JSON.stringify(text);
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/**
 * Runs calls one after the other, because the official signer asks the node for its nonce and two parallel transactions would get the same.
 */
function oneByOne<A extends unknown[], T>(act: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (...args) => {
    const next = last.catch(() => {}).then(() => act(...args));
    last = next;
    return next;
  };
}
