/** Where on the plane of degrees a geometry stands: as it is, a turn round the earth further, or behind a pole. */
export type PlaneImage = 'itself' | 'east' | 'west' | 'northEast' | 'northWest' | 'southEast' | 'southWest'
