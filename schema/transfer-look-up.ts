import { isJsonObject, type JsonObject } from './canonical-json.ts';
import { keccak256 } from './digest.ts';
import { networkNamed, networks } from './network.ts';
import type { ForeignNetwork } from './observed-transfer.ts';
import { signedPayment } from './receipt-payload.ts';

/*
 * How to look up the transfer that a receipt names: the request to send to any node of the network, and the expected result. It
 * follows from what was signed; only the chain can confirm it.
 */

const TRANSFER = 'Transfer(address,address,uint256)';

/** An address as an indexed topic: 32 bytes. */
const topic = (address: string) => `0x${'0'.repeat(24)}${address.slice(2).toLowerCase()}`;
const topicOf = (event: string) => `0x${Buffer.from(keccak256(Buffer.from(event))).toString('hex')}`;

interface LookUpInput {
  readonly tx: string;
  readonly payment: JsonObject;
}

const lookUps: Readonly<Record<ForeignNetwork, (asked: LookUpInput) => JsonObject>> = {
  base: ({ tx, payment }) => ({
    rpc_method: 'eth_getTransactionReceipt',
    rpc_params: [tx],
    event: TRANSFER,
    topics: [topicOf(TRANSFER), topic(String(payment.payer)), topic(String(payment.pay_to))],
    log_index: payment.transfer_index ?? null,
    expect:
      'status 0x1; a log of `contract` with these topics, this logIndex where it is known, and `amount` as its data.',
  }),
  solana: ({ tx, payment }) => ({
    rpc_method: 'getTransaction',
    rpc_params: [tx, { encoding: 'jsonParsed', commitment: 'finalized', maxSupportedTransactionVersion: 0 }],
    // Payments to this service use one instruction only; payments to others may use either.
    expect: `meta.err null; a ${payment.payment_id === undefined ? 'transfer or ' : ''}transferChecked of \`amount\` of the mint \`contract\` from \`payer\` to the token account of \`payee\`.`,
  }),
  nano: ({ tx }) => ({
    rpc_method: 'block_info',
    rpc_params: { json_block: 'true', hash: tx },
    expect:
      'confirmed true; contents of the account `payer` with link_as_account `payee`; their balance is `amount` less than that of the block before.',
  }),
};

/**
 * @param seen_ref payment reference under which the transfer was seen after the receipt was signed
 * @returns null if nothing was paid or the network is unknown
 */
export function transferLookUp(payment: JsonObject | null, seen_ref: string | null): JsonObject | null {
  const network = payment === null ? null : networkOf(payment);
  if (payment === null || network === null) return null;
  const ref = seen_ref ?? String(payment.ref);
  const tx = ref.slice(ref.indexOf(':') + 1);
  return {
    network,
    chain: network === 'nano' ? network : networks[network].caip2,
    tx_hash: tx,
    contract: payment.asset ?? null,
    payer: payment.payer ?? null,
    payee: payment.pay_to ?? null,
    amount: payment.gross_amount ?? null,
    ...lookUps[network]({ tx, payment }),
  };
}

function networkOf({ network }: JsonObject): ForeignNetwork | null {
  if (typeof network !== 'string') return null;
  return network === 'nano' ? network : networkNamed(network);
}

/** The lookup for a receipt: of its signed payment or transfer, and of where it was seen later. */
export function lookUpOf(claims: JsonObject, ingress_receipt: unknown): JsonObject | null {
  const seen = isJsonObject(ingress_receipt) && typeof ingress_receipt.ref === 'string' ? ingress_receipt.ref : null;
  return transferLookUp(signedPayment(claims), seen);
}
