import { limits } from '../../../schema/limits.ts';
import { intentOf } from '../../../schema/requests/intent.ts';

/** What every call of a paid door costs, wherever it is paid. */
export const callTerms = {
  price_atomic: limits.call_price_atomic,
  networks: ['base', 'solana'],
  intent: intentOf,
} as const;
