import { register } from 'tsx/esm/api';

/** Lets Node run the sources from now on: tsx compiles their decorators, which Node does not. */
register();
