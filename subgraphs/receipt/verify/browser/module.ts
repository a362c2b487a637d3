import './without-eval.ts';

/* The module `spend-receipt-gateway/verify` as browsers load it. */

export * from '../module.ts';
