import { getAddress } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { networks } from '../../../schema/network.ts';
import type { ObservedTransfer } from '../../../schema/observed-transfer.ts';
import { eip191Hash } from '../../../schema/secp256k1.ts';
import type {
  ChainPosition,
  ForeignTransfers,
  NamedTransfer,
  TransferFault,
} from '../../../subgraphs/foreign-transfers.ts';
import { keyWallets } from '../session/wallets.ts';

const SEEN: ChainPosition = { block_number: 7, block_hash: `0x${'7'.repeat(64)}`, final: false };
let transactions = 0;

/** A transaction hash that no other test uses. */
export function newTransaction(): string {
  return `0x${(++transactions).toString(16).padStart(64, '0')}`;
}

export const newAddress = (): string => getAddress(privateKeyToAccount(generatePrivateKey()).address);

/** A transfer of USDC on Base between two new addresses. */
export function transferOf(members: Partial<ObservedTransfer> = {}): ObservedTransfer {
  const usdc = { network: 'base', rail: 'usdc', asset: networks.base.usdc, index: 3, amount: '2500000' } as const;
  return { ...usdc, transaction: newTransaction(), payer: newAddress(), pay_to: newAddress(), ...members };
}

/** A confirmed send on Nano. */
export function sendOf(members: Partial<ObservedTransfer> = {}): ObservedTransfer {
  const account = (letter: string) => `nano_1${letter.repeat(59)}`;
  const xno = { network: 'nano', rail: 'xno', asset: 'XNO', index: null, amount: `5${'0'.repeat(29)}` } as const;
  const transaction = newTransaction().slice(2).toUpperCase();
  return { ...xno, transaction, payer: account('a'), pay_to: account('b'), ...members };
}

/** A source of payments that a test fills. Any other payment does not exist. */
export function openTransferSource() {
  const shown: ObservedTransfer[] = [];
  const asked: NamedTransfer[] = [];
  let instead: 'unknown' | 'unsupported' | TransferFault | null = null;
  const transfers: ForeignTransfers = {
    async observe(named) {
      asked.push(named);
      if (instead === 'unknown' || instead === 'unsupported') return { kind: instead };
      if (instead !== null) return { kind: 'not_believed', reason: instead };
      const { network, transaction, index, payer, pay_to, amount_atomic } = named;
      const found = shown.filter(
        it =>
          it.network === network &&
          it.transaction === transaction &&
          (index === null || it.index === index) &&
          (payer === null || it.payer === payer) &&
          it.pay_to === pay_to &&
          it.amount === amount_atomic.toString(),
      );
      const [transfer, other] = found;
      if (transfer === undefined) {
        const known = shown.some(it => it.transaction === transaction);
        return { kind: 'not_believed', reason: known ? 'no_such_transfer' : 'not_found' };
      }
      if (other !== undefined)
        return { kind: 'not_believed', reason: 'ambiguous', transfer_indexes: found.flatMap(it => it.index ?? []) };
      return {
        kind: 'observed',
        transfer,
        seen_in: network === 'nano' ? { ...SEEN, block_number: null, final: true } : SEEN,
      };
    },
    verifySigner: (text, { payer, signature, asker }) => keyWallets.verifies(payer, eip191Hash(text), signature, asker),
    standing: async () => ({ kind: 'unknown' }),
  };
  return {
    transfers,
    /** Transfers that were looked up, in order. */
    asked,
    /** Adds the transfer to the source, as if its chain had it. */
    show<T extends ObservedTransfer>(transfer: T): T {
      shown.push(transfer);
      return transfer;
    },
    /** Answers every look-up like this until it is called with null. */
    answerWith(what: typeof instead) {
      instead = what;
    },
  };
}

export type TransferSource = ReturnType<typeof openTransferSource>;

/** The request body that ingests a USDC transfer. */
export function invoiceOf({ network, transaction, payer, pay_to, amount }: ObservedTransfer, members: object = {}) {
  return {
    foreign_invoice: {
      network,
      tx: transaction,
      payer,
      payTo: pay_to,
      amount,
      resource: 'https://shop.example/v1/x',
      ...members,
    },
  };
}
