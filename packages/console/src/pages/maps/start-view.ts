/** Converts a map's camera to a style's `center` and `zoom`. */
interface Camera {
  getCenter(): { lng: number; lat: number }
  getZoom(): number
}

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits))

export function viewOf(camera: Camera): { center: [number, number]; zoom: number } {
  const { lng, lat } = camera.getCenter()
  return { center: [rounded(lng, 5), rounded(lat, 5)], zoom: rounded(camera.getZoom(), 2) }
}
