import { register } from 'tsx/esm/api';

/** From now on Node runs the sources: tsx compiles their decorators, which Node does not. */
register();
