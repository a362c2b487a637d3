import type { AtomicAmount } from '../../../schema/amount.ts';
import { limits } from '../../../schema/limits.ts';

/** Currency of the atomic units of a rail. */
export interface Currency {
  readonly code: string;
  readonly decimals: number;
}

const rails: Readonly<Record<string, Currency>> = {
  usdc: { code: 'USDC', decimals: limits.usdc_decimals },
  xno: { code: 'XNO', decimals: 30 },
};

/** Currency of a rail. An unknown rail has its own name as the code, and no decimals. */
export function currencyOf(rail: string | null): Currency {
  if (rail !== null && Object.hasOwn(rails, rail)) return rails[rail] as Currency;
  return { code: (rail ?? '').replace(/[^a-z]/gi, '').toUpperCase() || 'UNKNOWN', decimals: 0 };
}

/** Amount with all decimals of its currency, so that nothing is rounded and columns align. */
export function decimalText(amount: AtomicAmount | bigint, { decimals }: Currency): string {
  if (decimals === 0) return amount.toString();
  const digits = amount.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
