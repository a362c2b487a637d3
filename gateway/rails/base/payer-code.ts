import { limits } from '../../../schema/limits.ts';
import { Gathering } from '../../../subgraphs/batched-read.ts';
import type { Clock } from '../../../subgraphs/clock.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { type ContractPayer, contractPayersAmong } from '../../../subgraphs/receipt/claim/contract-payers.ts';
import { Remembered } from '../../x402/recently-made.ts';
import type { Reached } from '../rpc.ts';
import type { Hex } from './abi.ts';
import type { BaseChain } from './chain.ts';

/** What is known of an address in whose name a payment came that no key of its own has signed. */
export interface Payer {
  readonly has_code: boolean;
  /** Its code has signed for money that moved through here within a day, or may have. */
  readonly has_paid: boolean;
  /** The same, however long ago: what it bought is still to be delivered, or to be told of. */
  readonly ever_paid: boolean;
}

export type Look = { readonly kind: 'seen'; readonly payer: Payer } | Exclude<Reached<never>, { kind: 'ok' }>;

interface Entry {
  readonly until_ms: number;
  again_left: number;
  look: Promise<Look | null>;
  /** Nothing was learnt: it is asked anew by whoever comes next. */
  failed: boolean;
}

const ADDRESSES_MAX = 10_000;
const AGAIN_MAX = 3;

/**
 * Whether code stands at the addresses that are named as payers, and whether they have paid before. Whoever asks while
 * a question is under way shares the next one, and an answer serves for a moment (`payer_look_ms`). That code was found
 * lets nothing pass, as the code itself is asked. That none was found may be over with the next block (a wallet is made,
 * a key delegates by EIP-7702): so the node is asked again, up to AGAIN_MAX times within that moment, before a payment is
 * refused on an answer that is not its own.
 */
export class PayerLooks {
  readonly #clock: Pick<Clock, 'now_ms'>;
  readonly #codes: Gathering<Reached<Hex>>;
  readonly #paid: Gathering<ContractPayer>;
  readonly #entries = new Remembered<Entry>(ADDRESSES_MAX);
  #asking = 0;

  constructor(chain: Pick<BaseChain, 'code'>, database: Pick<Database, 'query'>, clock: Pick<Clock, 'now_ms'>) {
    this.#clock = clock;
    this.#codes = new Gathering(async addresses => {
      const codes = await Promise.all(addresses.map(address => chain.code(address as Hex)));
      return new Map(addresses.map((address, index) => [address, codes[index] as Reached<Hex>]));
    });
    this.#paid = new Gathering(async addresses => {
      const paid = await contractPayersAmong(database, addresses, limits.contract_payer_known_seconds);
      return new Map(paid.map(known => [known.payer, known]));
    });
  }

  /** Null where too many addresses are being looked at. @throws DatabaseAway */
  async look(address: Hex): Promise<Look | null> {
    const now_ms = this.#clock.now_ms();
    let made = false;
    const entry = this.#entries.get(
      address,
      known => !known.failed && now_ms < known.until_ms,
      () => {
        made = true;
        return this.#entry(address, now_ms);
      },
    );
    const look = await entry.look;
    if (made || entry.again_left === 0 || look === null || (look.kind === 'seen' && look.payer.has_code)) return look;
    entry.again_left--;
    entry.look = this.#ask(address, entry);
    return entry.look;
  }

  #entry(address: Hex, now_ms: number): Entry {
    const until_ms = now_ms + limits.payer_look_ms;
    const entry: Entry = { until_ms, again_left: AGAIN_MAX, look: Promise.resolve(null), failed: false };
    entry.look = this.#ask(address, entry);
    return entry;
  }

  async #ask(address: Hex, entry: Entry): Promise<Look | null> {
    if (this.#asking >= limits.payer_looks_underway_max) {
      entry.failed = true;
      return null;
    }
    this.#asking++;
    try {
      const [code, paid] = await Promise.all([this.#codes.ask(address), this.#paid.ask(address)]);
      if (code?.kind === 'ok') {
        const payer = { has_code: code.value !== '0x', has_paid: paid?.lately ?? false, ever_paid: paid !== null };
        return { kind: 'seen', payer };
      }
      entry.failed = true;
      return code ?? { kind: 'unreachable', cause: new Error('no word of the code at an address') };
    } catch (error) {
      entry.failed = true;
      throw error;
    } finally {
      this.#asking--;
    }
  }
}
