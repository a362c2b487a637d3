import { z } from 'zod';
import type { ErrorCode } from '../../schema/errors.ts';
import { limits } from '../../schema/limits.ts';
import { Problem } from '../answer-shapes.ts';
import { RefusedCallAnswer } from '../receipt/answers.ts';

/** A door at which an author pays a stamp for what is written: behind possession, by no key, and as far as the book allows. */
export const stamped = {
  methods: ['POST'],
  tags: ['board'],
  possession: 'required',
  challenge: 'after_possession',
  price: { amount_atomic: limits.stamp_price_atomic, networks: ['base', 'solana'], stamp: true, paid_by: ['payment'] },
  status: 201,
  refusal: z.union([RefusedCallAnswer, Problem]),
} as const;

/** By which its book refuses it. */
export const stampErrors = [
  'policy_blocked',
  'budget_exhausted',
  'approval_ttl_expired',
] as const satisfies ErrorCode[];
