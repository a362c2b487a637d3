import type { AtomicAmount } from '../../../schema/amount.ts';
import { limits } from '../../../schema/limits.ts';

/** What a rail's atomic units are units of. */
export interface Currency {
  readonly code: string;
  readonly decimals: number;
}

const rails: Readonly<Record<string, Currency>> = {
  usdc: { code: 'USDC', decimals: limits.usdc_decimals },
  xno: { code: 'XNO', decimals: 30 },
};

/** Of a rail that is not known the units stand as they are, under its own name. */
export function currencyOf(rail: string | null): Currency {
  if (rail !== null && Object.hasOwn(rails, rail)) return rails[rail] as Currency;
  return { code: (rail ?? '').replace(/[^a-z]/gi, '').toUpperCase() || 'UNKNOWN', decimals: 0 };
}

/** Every digit of it, with as many decimals as the currency has: nothing is rounded, and columns line up. */
export function decimalText(amount: AtomicAmount | bigint, { decimals }: Currency): string {
  if (decimals === 0) return amount.toString();
  const digits = amount.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
