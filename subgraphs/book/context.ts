import type { Context } from '../context.ts';
import type { Issuer } from '../receipt/index.ts';

export interface BookContext extends Context {
  readonly issuer: Issuer;
}
