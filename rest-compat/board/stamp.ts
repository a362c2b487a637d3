import { z } from 'zod';
import type { ErrorCode } from '../../schema/errors.ts';
import { limits } from '../../schema/limits.ts';
import { Problem } from '../answer-shapes.ts';
import { RefusedCallAnswer } from '../receipt/answers.ts';

/**
 * Columns of an endpoint for which an author pays a stamp. It requires possession, accepts no API key, and the author's book may refuse the
 * payment.
 */
export const stampColumns = {
  methods: ['POST'],
  tags: ['board'],
  possession: 'required',
  challenge: 'after_possession',
  price: { amount_atomic: limits.stamp_price_atomic, networks: ['base', 'solana'], stamp: true, paid_by: ['payment'] },
  status: 201,
  refusal: z.union([RefusedCallAnswer, Problem]),
} as const;

/** Errors with which the book refuses it. */
export const stampErrors = [
  'policy_blocked',
  'budget_exhausted',
  'approval_ttl_expired',
] as const satisfies ErrorCode[];
